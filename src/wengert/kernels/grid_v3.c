#include "target_v3.h"
#define WK_LEVEL v3
#define WK_BITS 32
#include "grid.h"
#undef WK_BITS
#define WK_BITS 64
#include "grid.h"
#include "target_end.h"
