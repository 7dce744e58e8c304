/* Kernels of the gates of recurrent cells, one table for each CPU level and dtype. cells.h defines them, wk_recurrent.c calls them. */
#ifndef WK_CELLS_H
#define WK_CELLS_H
#include <stdint.h>

/* Cotangents of one step. Arrays of `rows` rows: gates, ct_gates and out have 4 * size numbers in a row, the others size. ct_hidden,
 * ct_cell and ct_gates are rows of zeros with a step of 0 if they are absent. */
typedef struct {
    int64_t rows, size;
    const void *gates, *cell, *cell_before;
    const void *ct_hidden, *ct_cell, *ct_gates;
    int64_t ct_hidden_step, ct_cell_step, ct_gates_step; /* numbers from one row to the next */
    const void *of_hidden; /* cotangent of the hidden state from the step after */
    void *of_cell;         /* that of the cell; the cotangent of cell_before replaces it */
    void *out;             /* cotangent of the sums that the gates are functions of */
} WkLstmCotangent;

typedef struct {
    /* gates: rows of the sums of the input, forget, cell and output gates; the gates replace them. cell, hidden: the new states. */
    void (*lstm)(void *gates, const void *cell_before, void *cell, void *hidden, int64_t rows, int64_t size);
    void (*lstm_cotangent)(const WkLstmCotangent *);
} WkCells;

extern const WkCells wk_cells_base_f32, wk_cells_base_f64, wk_cells_v3_f32, wk_cells_v3_f64, wk_cells_v4_f32, wk_cells_v4_f64;
#endif
