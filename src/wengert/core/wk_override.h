/* Whether public callables ask `override`: see Note [Overrides] in override.py. One variable for all modules of the library. */
#ifndef WK_OVERRIDE_H
#define WK_OVERRIDE_H

#if defined(__GNUC__)
#define WK_RARE(condition) __builtin_expect((condition), 0)
#else
#define WK_RARE(condition) (condition)
#endif

extern int wk_overriding_; /* defined in _compiled.c */

static inline int wk_overriding(void) { return WK_RARE(wk_overriding_ != 0); }
static inline void wk_begin_overriding(void) { wk_overriding_ = 1; }

#endif
