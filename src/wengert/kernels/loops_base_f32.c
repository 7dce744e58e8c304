#define WK_LEVEL base
#define WK_BITS 32
#include "loops.h"
