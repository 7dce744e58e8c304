#define WK_LEVEL base
#define WK_REGISTER 16
#define WK_BITS 32
#include "loops.h"
