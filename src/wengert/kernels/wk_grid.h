/* Sampling of images at arbitrary points: declarations that wk_grid.c (the methods) and grid.h (the loops) share. */
#ifndef WK_GRID_H
#define WK_GRID_H
#include <stdint.h>

enum { BILINEAR, NEAREST, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };
enum {
    BLOCK = 64,       /* number of points that are processed together */
    MAX_CORNERS = 16, /* most corners of a point: 2 * 2 * 2, or 4 * 4 */
    FAR = 1000000,    /* position in elements that lies outside any image */
};

typedef struct {
    const char *x, *grid, *ct; /* x: (n, channels, *size); grid: (n, points, dims), last dim first; ct: (n, channels, points) */
    char *out;
    int dims, mode, padding, align, taps, corners; /* taps: of a point along one dim; corners: of a point in all */
    int64_t size[3], elements, channels, points, blocks, splits; /* blocks: of points; splits: of the channels of each image */
} Grid;

/* Loops over a Grid for one dtype and CPU level. sample and move run over blocks of points, add_up over splits of images. */
typedef struct {
    void (*sample)(void *grid, int64_t begin, int64_t end);
    void (*add_up)(void *grid, int64_t begin, int64_t end);
    void (*move)(void *grid, int64_t begin, int64_t end);
} WkGridLoops;

extern const WkGridLoops wk_grid_base_f32, wk_grid_base_f64, wk_grid_v3_f32, wk_grid_v3_f64;
#endif
