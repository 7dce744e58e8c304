/* The CPU level in use, chosen at import. levels.c chooses it. */
#ifndef WK_LEVEL_H
#define WK_LEVEL_H
#include <string.h>

#include "wk_numpy.h"

/* "base", "v3" or "v4". */
const char *wk_level_name(void);

#ifdef WK_HAS_LEVELS
#define WK_OF_LEVEL(tables, bits)                                          \
    (strcmp(wk_level_name(), "v4") == 0   ? &tables##_v4_##bits            \
     : strcmp(wk_level_name(), "v3") == 0 ? &tables##_v3_##bits            \
                                          : &tables##_base_##bits)
#else
#define WK_OF_LEVEL(tables, bits) (&tables##_base_##bits)
#endif

/* Define a function of NPY_FLOAT or NPY_DOUBLE that returns the table of kernels of the level in use: of tables_v4_f32 and so on. */
#define WK_DEFINE_TABLE_OF(Type, function, tables)                         \
    static const Type *function(int typenum) {                             \
        static const Type *found[2];                                       \
        if (found[0] == NULL) {                                            \
            found[1] = WK_OF_LEVEL(tables, f64);                           \
            found[0] = WK_OF_LEVEL(tables, f32);                           \
        }                                                                  \
        return found[typenum == NPY_DOUBLE];                               \
    }
#endif
