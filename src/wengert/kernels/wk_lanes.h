/* Lanes: the lines of elements of arrays along one dim. Kernels that work along a dim (read, write, sort, scan) visit them in runs
 * of neighbours, which one step in memory separates; no two lanes share an element, so threads may take them apart anywhere. */
#ifndef WK_LANES_H
#define WK_LANES_H
#include <stdint.h>
#include <string.h>

#include "wk_numpy.h"

enum {
    WK_LANE_ARRAYS = 3,
    WK_LANE_WORK = 32768, /* elements that a thread should have at least */
};

typedef struct {
    int nd, arrays;
    int64_t shape[NPY_MAXDIMS], strides[WK_LANE_ARRAYS][NPY_MAXDIMS]; /* of the dims besides the one along which lanes lie */
    int64_t lanes, width;                                             /* how many; how many neighbours a run has at most */
    int64_t step[WK_LANE_ARRAYS], next[WK_LANE_ARRAYS]; /* bytes to the next element of a lane, to the next lane of a run */
} WkLanes;

/* The lanes along dim of arrays that are walked over together: those of the first nd sizes in shape, but for dim's. */
static inline void wk_lanes_init(WkLanes *s, int nd, const npy_intp *shape, int dim, int arrays, const npy_intp *const *strides) {
    s->arrays = arrays;
    s->nd = 0;
    s->lanes = 1;
    for (int a = 0; a < arrays; a++) s->step[a] = nd > 0 ? strides[a][dim] : 0;
    for (int d = 0; d < nd; d++) {
        if (d == dim || shape[d] == 1) continue;
        s->lanes *= shape[d];
        int merges = s->nd > 0; /* with the dim before: where one step leads from its end to its next */
        for (int a = 0; a < arrays && merges; a++) merges = s->strides[a][s->nd - 1] == strides[a][d] * shape[d];
        if (!merges) s->shape[s->nd++] = 1;
        s->shape[s->nd - 1] *= shape[d];
        for (int a = 0; a < arrays; a++) s->strides[a][s->nd - 1] = strides[a][d];
    }
    s->width = s->nd > 0 ? s->shape[s->nd - 1] : 1;
    for (int a = 0; a < arrays; a++) s->next[a] = s->nd > 0 ? s->strides[a][s->nd - 1] : 0;
}

/* Where a lane begins in each array, as bytes from its start; returns how many lanes from it on, of those before end, are a run. */
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

/* How many lanes of this many elements a thread should have at least. */
static inline int64_t wk_lane_grain(int64_t elements) {
    return elements >= WK_LANE_WORK ? 1 : WK_LANE_WORK / (elements < 1 ? 1 : elements);
}

/* Copies n elements of item bytes, 4 or 8, which lie step bytes apart, to where they lie one after the other. */
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
