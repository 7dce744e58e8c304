/* Images read at any points: what wk_grid.c, which has the methods, and grid.h, which has the loops, share. */
#ifndef WK_GRID_H
#define WK_GRID_H
#include <stdint.h>

enum { BILINEAR, NEAREST, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };
enum {
    BLOCK = 64,       /* points that are worked on together */
    MAX_CORNERS = 16, /* of a point: 2 * 2 * 2, or 4 * 4 */
    FAR = 1000000,    /* elements away: outside any image */
};

typedef struct {
    const char *x, *grid, *ct; /* (n, channels, *size); (n, points, dims), the last dim first; (n, channels, points) */
    char *out;
    int dims, mode, padding, align, taps, corners; /* taps: of a point along a dim; corners: in all */
    int64_t size[3], elements, channels, points, blocks, splits; /* blocks of points; splits of channels, of each image */
} Grid;

/* The loops for one dtype and CPU level, over a Grid: of blocks of points, of splits of images, of blocks of points. */
typedef struct {
    void (*sample)(void *grid, int64_t begin, int64_t end);
    void (*add_up)(void *grid, int64_t begin, int64_t end);
    void (*move)(void *grid, int64_t begin, int64_t end);
} WkGridLoops;

extern const WkGridLoops wk_grid_base_f32, wk_grid_base_f64, wk_grid_v3_f32, wk_grid_v3_f64;
#endif
