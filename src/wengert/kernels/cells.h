/* The kernels of wk_cells.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each. */
#include "vm.h"
#include "dtype.h"
#include "wk_cells.h"
#if WK_BITS == 32
#define EXP_ vm_exp_f32
#define TANH_ vm_tanh_f32
#else
#define EXP_ vm_exp_f64
#define TANH_ vm_tanh_f64
#endif
#define SIGMOID_(x) (1 / (1 + EXP_(-(x))))

static void SUFFIX(lstm_row)(real *restrict input, real *restrict forget, real *restrict fresh, real *restrict output,
                             const real *restrict before, real *restrict cell, real *restrict hidden, int64_t size) {
    for (int64_t j = 0; j < size; j++) input[j] = SIGMOID_(input[j]);
    for (int64_t j = 0; j < size; j++) forget[j] = SIGMOID_(forget[j]);
    for (int64_t j = 0; j < size; j++) fresh[j] = TANH_(fresh[j]);
    for (int64_t j = 0; j < size; j++) output[j] = SIGMOID_(output[j]);
    for (int64_t j = 0; j < size; j++) cell[j] = forget[j] * before[j] + input[j] * fresh[j];
    for (int64_t j = 0; j < size; j++) hidden[j] = output[j] * TANH_(cell[j]);
}

static void SUFFIX(lstm)(void *gates, const void *cell_before, void *cell, void *hidden, int64_t rows, int64_t size) {
    for (int64_t row = 0; row < rows; row++) {
        real *input = (real *)gates + row * 4 * size;
        SUFFIX(lstm_row)(input, input + size, input + 2 * size, input + 3 * size, (const real *)cell_before + row * size,
                         (real *)cell + row * size, (real *)hidden + row * size, size);
    }
}

/* Set squashed to tanh(cell), total to the cotangent of the hidden state, and of_cell to that of the cell. */
static void SUFFIX(lstm_states_cotangent)(const real *restrict output, const real *restrict cell, const real *restrict ct_hidden,
                                          const real *restrict ct_cell, const real *restrict of_hidden, real *restrict of_cell,
                                          real *restrict squashed, real *restrict total, int64_t size) {
    for (int64_t j = 0; j < size; j++) {
        const real s = TANH_(cell[j]), h = ct_hidden[j] + of_hidden[j];
        squashed[j] = s, total[j] = h;
        of_cell[j] = ct_cell[j] + of_cell[j] + h * output[j] * (1 - s * s);
    }
}

/* out = (x * y + ct) * slope(gate), for a gate that is a sigmoid or a tanh. */
static void SUFFIX(sigmoid_cotangent)(const real *restrict x, const real *restrict y, const real *restrict ct,
                                      const real *restrict gate, real *restrict out, int64_t size) {
    for (int64_t j = 0; j < size; j++) out[j] = (x[j] * y[j] + ct[j]) * ((1 - gate[j]) * gate[j]);
}

static void SUFFIX(tanh_cotangent)(const real *restrict x, const real *restrict y, const real *restrict ct,
                                   const real *restrict gate, real *restrict out, int64_t size) {
    for (int64_t j = 0; j < size; j++) out[j] = (x[j] * y[j] + ct[j]) * (1 - gate[j] * gate[j]);
}

static void SUFFIX(lstm_cotangent)(const WkLstmCotangent *t) {
    const int64_t size = t->size;
    for (int64_t row = 0; row < t->rows; row++) {
        const real *input = (const real *)t->gates + row * 4 * size, *forget = input + size, *fresh = forget + size,
                   *output = fresh + size, *ct_gates = (const real *)t->ct_gates + row * t->ct_gates_step;
        real *of_cell = (real *)t->of_cell + row * size, *out = (real *)t->out + row * 4 * size;
        real *squashed = out, *total = out + size; /* rows of out serve as buffers until they are written */
        SUFFIX(lstm_states_cotangent)(output, (const real *)t->cell + row * size, (const real *)t->ct_hidden + row * t->ct_hidden_step,
                                      (const real *)t->ct_cell + row * t->ct_cell_step, (const real *)t->of_hidden + row * size,
                                      of_cell, squashed, total, size);
        SUFFIX(sigmoid_cotangent)(total, squashed, ct_gates + 3 * size, output, out + 3 * size, size);
        SUFFIX(tanh_cotangent)(of_cell, input, ct_gates + 2 * size, fresh, out + 2 * size, size);
        SUFFIX(sigmoid_cotangent)(of_cell, (const real *)t->cell_before + row * size, ct_gates + size, forget, out + size, size);
        SUFFIX(sigmoid_cotangent)(of_cell, fresh, ct_gates, input, out, size);
        for (int64_t j = 0; j < size; j++) of_cell[j] *= forget[j];
    }
}

const WkCells SUFFIX(wk_cells) = {SUFFIX(lstm), SUFFIX(lstm_cotangent)};

#undef EXP_
#undef TANH_
#undef SIGMOID_
