#define WK_LEVEL v3
#define WK_REGISTER 32
#define WK_BITS 64
#include "target_v3.h"
#include "loops.h"
#include "target_end.h"
