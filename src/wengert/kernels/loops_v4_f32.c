#define WK_LEVEL v4
#define WK_REGISTER 64
#define WK_BITS 32
#include "target_v4.h"
#include "loops.h"
#include "target_end.h"
