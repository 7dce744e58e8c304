/* The cores and the memory that this process may use. On Linux, control groups (cgroups) limit both: those of containers. */
#ifndef WK_MACHINE_H
#define WK_MACHINE_H
#include <stdint.h>

/* Number of cores, at least 1: those that the process may run on, but no more than its control groups allow time for. */
int wk_usable_cores(void);

/* Bytes of memory: those of the machine, or the limit of a control group if it is lower. -1: unknown. */
int64_t wk_usable_memory(void);
#endif
