#define WK_LEVEL base
#define WK_BITS 32
#include "grid.h"
#undef WK_BITS
#define WK_BITS 64
#include "grid.h"
