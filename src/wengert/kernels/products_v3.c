#include "target_v3.h"
#include "contract.h"
#define WK_LEVEL v3
#define WK_REGISTER 32
#define WK_ROWS 6
#define WK_BITS 32
#include "products.h"
#undef WK_BITS
#define WK_BITS 64
#include "products.h"
#include "target_end.h"
