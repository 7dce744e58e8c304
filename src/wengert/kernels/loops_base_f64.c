#define WK_LEVEL base
#define WK_BITS 64
#include "loops.h"
