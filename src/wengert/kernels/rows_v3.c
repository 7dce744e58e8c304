#include "target_v3.h"
#define WK_LEVEL v3
#define WK_BITS 32
#include "rows.h"
#include "norms.h"
#include "factors.h"
#include "distances.h"
#include "cells.h"
#undef WK_BITS
#define WK_BITS 64
#include "rows.h"
#include "norms.h"
#include "factors.h"
#include "distances.h"
#include "cells.h"
#include "target_end.h"
