/* The loops of wk_grid.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each.
 *
 * Points are processed in blocks. Along each dim a point has taps, the elements that contribute to it, each with a weight. A corner
 * is one tap along every dim. A tap outside the image has weight 0 and an index inside.
 */
#include <math.h>
#include <string.h>

#include "dtype.h"
#include "wk_grid.h"
#define C(value) ((real)(value))

typedef struct {
    int32_t index[4][BLOCK];
    real weight[4][BLOCK], derivative[4][BLOCK];
} SUFFIX(Taps);

typedef struct {
    int32_t index[MAX_CORNERS][BLOCK];
    real weight[MAX_CORNERS][BLOCK], derivative[3][MAX_CORNERS][BLOCK];
} SUFFIX(Corners);

/* Reflect a position at the edges as often as needed. *slope: 1 or -1, the direction in which the result moves; 0 if there is no
 * room to move. */
static void SUFFIX(reflect)(real *place, real *slope, int64_t n, int align) {
    real low = align ? C(0) : C(-0.5), high = align ? C(n - 1) : C(n) - C(0.5), span = high - low;
    if (span <= 0) {
        *place = *slope = 0;
        return;
    }
    real off = *place - low, sign = off < 0 ? C(-1) : C(1), far = off < 0 ? -off : off;
    real rest = far < span ? far : (real)fmod(far, span), turns = (far - rest) / span;
    int odd = (int64_t)(turns + C(0.5)) & 1;
    *slope = odd ? -sign : sign;
    *place = (odd ? span - rest : rest) + low;
}

/* Move positions into the image, as the padding mode says. slope: derivative of the result in the position: 1, -1 or 0. */
static void SUFFIX(move_inside)(const Grid *s, int64_t n, int64_t count, real *restrict place, real *restrict slope) {
    const real last = C(n - 1);
    for (int64_t p = 0; p < count; p++) slope[p] = 1;
    if (s->padding == REFLECTION) {
        for (int64_t p = 0; p < count; p++) SUFFIX(reflect)(&place[p], &slope[p], n, s->align);
    }
    if (s->padding == ZEROS) return;
    for (int64_t p = 0; p < count; p++) {
        real here = place[p];
        slope[p] = ((here <= 0) | (here >= last)) ? 0 : slope[p];
        here = here <= 0 ? 0 : here;
        place[p] = here >= last ? last : here;
    }
}

/* Compute the weights of the elements at -1, 0, 1 and 2 for a position 0 <= t <= 1, and their derivatives: cubic convolution. */
static void SUFFIX(cubic)(real t, real *weight, real *derivative) {
    const real a = C(-0.75);
    real s = 1 - t, u = t + 1, v = s + 1;
    weight[0] = ((a * u - 5 * a) * u + 8 * a) * u - 4 * a;
    weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    weight[2] = ((a + 2) * s - (a + 3)) * s * s + 1;
    weight[3] = ((a * v - 5 * a) * v + 8 * a) * v - 4 * a;
    derivative[0] = (3 * a * u - 10 * a) * u + 8 * a;
    derivative[1] = (3 * (a + 2) * t - 2 * (a + 3)) * t;
    derivative[2] = -((3 * (a + 2) * s - 2 * (a + 3)) * s);
    derivative[3] = -((3 * a * v - 10 * a) * v + 8 * a);
}

/* Compute the positions of points along dim d in elements, and their derivatives in the coordinates. Coordinates are s->dims
 * apart. */
static void SUFFIX(find_places)(const Grid *s, int d, const real *points, int64_t count, real *restrict place,
                                real *restrict slope) {
    int64_t n = s->size[d];
    const real scale = s->align ? C((double)(n - 1) / 2) : C((double)n / 2), shift = s->align ? C(0) : C(0.5);
    for (int64_t p = 0; p < count; p++) {
        real point = points[p * s->dims], away = point > 0 ? C(FAR) : C(-FAR);
        int finite = point - point == 0; /* a point that is not finite lies outside, and stays there */
        place[p] = ((finite ? point : 0) + 1) * scale - shift + (finite ? 0 : away);
        slope[p] = 1;
    }
    if (s->mode != BICUBIC) SUFFIX(move_inside)(s, n, count, place, slope);
    for (int64_t p = 0; p < count; p++) {
        real here = place[p] > C(-FAR) ? place[p] : C(-FAR);
        place[p] = here < C(FAR) ? here : C(FAR);
        slope[p] *= scale;
    }
}

/* Set the indices of tap k, given the indices of the first tap. Weights and derivatives of taps outside the image become 0. */
static void SUFFIX(place_taps)(const Grid *s, int64_t n, int64_t count, const int32_t *restrict first, int32_t k,
                               const real *restrict slope, SUFFIX(Taps) *t) {
    int32_t *restrict index = t->index[k], size = (int32_t)n;
    real *restrict weight = t->weight[k], *restrict derivative = t->derivative[k];
    for (int64_t p = 0; p < count; p++) index[p] = first[p] + k;
    if (s->mode == BICUBIC && s->padding != ZEROS) {
        real here[BLOCK], ignored[BLOCK];
        for (int64_t p = 0; p < count; p++) here[p] = C(index[p]);
        SUFFIX(move_inside)(s, n, count, here, ignored);
        for (int64_t p = 0; p < count; p++) index[p] = (int32_t)lrint(here[p]);
    }
    for (int64_t p = 0; p < count; p++) {
        int32_t at = index[p], low = at < 0 ? 0 : at, inside = low > size - 1 ? size - 1 : low;
        index[p] = inside;
        real known = C(at == inside); /* a factor instead of a branch, so that compilers process several at once */
        weight[p] *= known;
        derivative[p] *= slope[p] * known;
    }
}

/* Find the taps of points along dim d. */
static void SUFFIX(find_taps)(const Grid *s, int d, const real *points, int64_t count, SUFFIX(Taps) *t) {
    real place[BLOCK], slope[BLOCK];
    int32_t first[BLOCK];
    SUFFIX(find_places)(s, d, points, count, place, slope);
    if (s->mode == NEAREST) {
        for (int64_t p = 0; p < count; p++) {
            first[p] = (int32_t)lrint(place[p]); /* rounds halves to even */
            t->weight[0][p] = 1, t->derivative[0][p] = 0;
        }
    } else {
        for (int64_t p = 0; p < count; p++) {
            int32_t down = (int32_t)place[p];
            first[p] = down - ((real)down > place[p]);
        }
        for (int64_t p = 0; p < count; p++) place[p] -= (real)first[p];
    }
    if (s->mode == BILINEAR) {
        for (int64_t p = 0; p < count; p++) {
            t->weight[0][p] = 1 - place[p], t->weight[1][p] = place[p];
            t->derivative[0][p] = -1, t->derivative[1][p] = 1;
        }
    } else if (s->mode == BICUBIC) {
        for (int64_t p = 0; p < count; p++) {
            real weight[4], derivative[4];
            SUFFIX(cubic)(place[p], weight, derivative);
            for (int k = 0; k < 4; k++) t->weight[k][p] = weight[k], t->derivative[k][p] = derivative[k];
            first[p] -= 1;
        }
    }
    for (int32_t k = 0; k < s->taps; k++) SUFFIX(place_taps)(s, s->size[d], count, first, k, slope, t);
}

/* Find all corners of a block of points: their places in an image and their weights. derives: also the derivatives of the
 * weights. */
static void SUFFIX(find_corners)(const Grid *s, const real *points, int64_t count, int derives, SUFFIX(Corners) *c) {
    SUFFIX(Taps) taps[3];
    for (int d = 0; d < s->dims; d++) SUFFIX(find_taps)(s, d, points + s->dims - 1 - d, count, &taps[d]);
    for (int corner = 0; corner < s->corners; corner++) {
        int number[3], rest = corner;
        for (int d = s->dims - 1; d >= 0; d--, rest /= s->taps) number[d] = rest % s->taps;
        const int32_t *index[3];
        const real *weight[3], *derivative[3];
        for (int d = 0; d < s->dims; d++) {
            index[d] = taps[d].index[number[d]], weight[d] = taps[d].weight[number[d]];
            derivative[d] = taps[d].derivative[number[d]];
        }
        int32_t *to = c->index[corner], height = (int32_t)s->size[1], width = (int32_t)s->size[s->dims - 1];
        real *total = c->weight[corner];
        if (s->dims == 2) {
            for (int64_t p = 0; p < count; p++) {
                to[p] = index[0][p] * width + index[1][p];
                total[p] = weight[0][p] * weight[1][p];
            }
        } else {
            for (int64_t p = 0; p < count; p++) {
                to[p] = (index[0][p] * height + index[1][p]) * width + index[2][p];
                total[p] = weight[0][p] * weight[1][p] * weight[2][p];
            }
        }
        for (int d = 0; derives && d < s->dims; d++) {
            real *of = c->derivative[d][corner];
            for (int64_t p = 0; p < count; p++) of[p] = derivative[d][p];
            for (int e = 0; e < s->dims; e++) {
                if (e != d) for (int64_t p = 0; p < count; p++) of[p] *= weight[e][p];
            }
        }
    }
}

/* -- tasks: blocks of points, or channels of an image -------------------------------------------------------------------- */

/* Read an image at points. Each result is a sum over the corners; one loop over all of them lets compilers gather several elements
 * at once. */
static inline void SUFFIX(read_points)(const real *restrict x, const SUFFIX(Corners) *c, int corners, int64_t count,
                                       real *restrict out) {
    for (int64_t p = 0; p < count; p++) {
        real sum = 0;
        for (int corner = 0; corner < corners; corner++) sum += x[c->index[corner][p]] * c->weight[corner][p];
        out[p] = sum;
    }
    for (int64_t p = 0; p < count; p++) {
        if (out[p] == out[p]) continue;
        out[p] = 0; /* an element with weight 0 may be infinite, so it is left out */
        for (int corner = 0; corner < corners; corner++) {
            real weight = c->weight[corner][p];
            if (weight != 0) out[p] += x[c->index[corner][p]] * weight;
        }
    }
}

static void SUFFIX(sample_blocks)(void *ctx, int64_t begin, int64_t end) {
    const Grid *s = (const Grid *)ctx;
    SUFFIX(Corners) corners;
    for (int64_t block = begin; block < end; block++) {
        int64_t n = block / s->blocks, first = block % s->blocks * BLOCK, count = s->points - first;
        if (count > BLOCK) count = BLOCK;
        SUFFIX(find_corners)(s, (const real *)s->grid + (n * s->points + first) * s->dims, count, 0, &corners);
        for (int64_t c = 0; c < s->channels; c++) {
            const real *x = (const real *)s->x + (n * s->channels + c) * s->elements;
            real *out = (real *)s->out + (n * s->channels + c) * s->points + first;
            if (s->corners == 4) SUFFIX(read_points)(x, &corners, 4, count, out);
            else if (s->corners == 8) SUFFIX(read_points)(x, &corners, 8, count, out);
            else SUFFIX(read_points)(x, &corners, s->corners, count, out);
        }
    }
}

static void SUFFIX(add_up_images)(void *ctx, int64_t begin, int64_t end) {
    const Grid *s = (const Grid *)ctx;
    SUFFIX(Corners) corners;
    for (int64_t task = begin; task < end; task++) {
        int64_t n = task / s->splits, low = task % s->splits * s->channels / s->splits;
        int64_t high = (task % s->splits + 1) * s->channels / s->splits;
        memset((real *)s->out + (n * s->channels + low) * s->elements, 0, (size_t)((high - low) * s->elements) * sizeof(real));
        for (int64_t first = 0; first < s->points; first += BLOCK) {
            int64_t count = s->points - first < BLOCK ? s->points - first : BLOCK;
            SUFFIX(find_corners)(s, (const real *)s->grid + (n * s->points + first) * s->dims, count, 0, &corners);
            for (int64_t c = low; c < high; c++) {
                const real *ct = (const real *)s->ct + (n * s->channels + c) * s->points + first;
                real *out = (real *)s->out + (n * s->channels + c) * s->elements;
                for (int corner = 0; corner < s->corners; corner++) {
                    const int32_t *index = corners.index[corner];
                    const real *weight = corners.weight[corner];
                    for (int64_t p = 0; p < count; p++) out[index[p]] += ct[p] * weight[p];
                }
            }
        }
    }
}

static void SUFFIX(move_blocks)(void *ctx, int64_t begin, int64_t end) {
    const Grid *s = (const Grid *)ctx;
    SUFFIX(Corners) corners;
    for (int64_t block = begin; block < end; block++) {
        int64_t n = block / s->blocks, first = block % s->blocks * BLOCK, count = s->points - first;
        if (count > BLOCK) count = BLOCK;
        SUFFIX(find_corners)(s, (const real *)s->grid + (n * s->points + first) * s->dims, count, 1, &corners);
        real along[BLOCK], totals[3][BLOCK] = {{0}};
        for (int corner = 0; corner < s->corners; corner++) {
            const int32_t *restrict index = corners.index[corner];
            memset(along, 0, sizeof along);
            for (int64_t c = 0; c < s->channels; c++) {
                const real *restrict x = (const real *)s->x + (n * s->channels + c) * s->elements;
                const real *restrict ct = (const real *)s->ct + (n * s->channels + c) * s->points + first;
                for (int64_t p = 0; p < count; p++) along[p] += ct[p] * x[index[p]];
            }
            for (int d = 0; d < s->dims; d++) {
                const real *derivative = corners.derivative[d][corner];
                for (int64_t p = 0; p < count; p++) {
                    real part = along[p] * derivative[p];
                    totals[d][p] += derivative[p] == 0 ? 0 : part;
                }
            }
        }
        real *out = (real *)s->out + (n * s->points + first) * s->dims;
        for (int d = 0; d < s->dims; d++) {
            for (int64_t p = 0; p < count; p++) out[p * s->dims + s->dims - 1 - d] = totals[d][p];
        }
    }
}

const WkGridLoops SUFFIX(wk_grid) = {SUFFIX(sample_blocks), SUFFIX(add_up_images), SUFFIX(move_blocks)};

#undef C
