#include "contract.h"
#define WK_LEVEL base
#define WK_REGISTER 16
#define WK_ROWS 4
#define WK_BITS 32
#include "products.h"
#undef WK_BITS
#define WK_BITS 64
#include "products.h"
