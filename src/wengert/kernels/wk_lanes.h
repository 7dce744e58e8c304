/* Lanes: the lines of elements of arrays along one dim. Kernels that work along a dim (read, write, sort, scan) visit lanes in runs
 * of neighbours, which lie a constant step apart. No two lanes share an element, so threads may split them anywhere. */
#ifndef WK_LANES_H
#define WK_LANES_H
#include <stdint.h>
#include <string.h>

#include "wk_numpy.h"

enum {
    WK_LANE_ARRAYS = 3,
    WK_LANE_WORK = 32768, /* least number of elements for a thread */
};

typedef struct {
    int nd, arrays;
    int64_t shape[NPY_MAXDIMS], strides[WK_LANE_ARRAYS][NPY_MAXDIMS]; /* of all dims except the one along which lanes lie */
    int64_t lanes, width;                                             /* number of lanes, and most lanes of a run */
    int64_t step[WK_LANE_ARRAYS], next[WK_LANE_ARRAYS]; /* bytes to the next element of a lane, and to the next lane of a run */
} WkLanes;

/* Set up the lanes along dim of arrays that are walked together. shape: the sizes of all nd dims; the size of dim is not used. */
static inline void wk_lanes_init(WkLanes *s, int nd, const npy_intp *shape, int dim, int arrays, const npy_intp *const *strides) {
    s->arrays = arrays;
    s->nd = 0;
    s->lanes = 1;
    for (int a = 0; a < arrays; a++) s->step[a] = nd > 0 ? strides[a][dim] : 0;
    for (int d = 0; d < nd; d++) {
        if (d == dim || shape[d] == 1) continue;
        s->lanes *= shape[d];
        int merges = s->nd > 0; /* merges with the dim before, if one step leads from the end of a row to the next row */
        for (int a = 0; a < arrays && merges; a++) merges = s->strides[a][s->nd - 1] == strides[a][d] * shape[d];
        if (!merges) s->shape[s->nd++] = 1;
        s->shape[s->nd - 1] *= shape[d];
        for (int a = 0; a < arrays; a++) s->strides[a][s->nd - 1] = strides[a][d];
    }
    s->width = s->nd > 0 ? s->shape[s->nd - 1] : 1;
    for (int a = 0; a < arrays; a++) s->next[a] = s->nd > 0 ? s->strides[a][s->nd - 1] : 0;
}

/* Set offsets to the bytes from the start of each array to a lane. Return the length of the run that starts there and ends before
 * `end`. */
static inline int64_t wk_lane_run(const WkLanes *s, int64_t lane, int64_t end, int64_t *offsets) {
    int64_t left = lane, run = s->width - lane % s->width;
    for (int a = 0; a < s->arrays; a++) offsets[a] = 0;
    for (int d = s->nd - 1; d >= 0; d--) {
        int64_t place = left % s->shape[d];
        left /= s->shape[d];
        for (int a = 0; a < s->arrays; a++) offsets[a] += place * s->strides[a][d];
    }
    return run < end - lane ? run : end - lane;
}

/* Least number of lanes of `elements` elements for a thread. */
static inline int64_t wk_lane_grain(int64_t elements) {
    return elements >= WK_LANE_WORK ? 1 : WK_LANE_WORK / (elements < 1 ? 1 : elements);
}

/* Copy n elements of item bytes (4 or 8), which lie step bytes apart, to contiguous memory. */
static inline void wk_copy_lane(char *to, const char *from, int64_t n, int64_t step, int64_t item) {
    if (n <= 0) return;
    if (step == item) {
        memcpy(to, from, (size_t)(n * item));
    } else if (item == 4) {
        for (int64_t i = 0; i < n; i++) ((float *)to)[i] = *(const float *)(from + i * step);
    } else {
        for (int64_t i = 0; i < n; i++) ((double *)to)[i] = *(const double *)(from + i * step);
    }
}
#endif
