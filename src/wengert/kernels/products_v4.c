#include "target_v4.h"
#include "contract.h"
#define WK_LEVEL v4
#define WK_REGISTER 64
#define WK_ROWS 12
#define WK_BITS 32
#include "products.h"
#undef WK_BITS
#define WK_BITS 64
#include "products.h"
#include "target_end.h"
