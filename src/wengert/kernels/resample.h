/* The loops of wk_resample.c for one dtype. Included once for each. `real` is the C type, and SUFFIX(name) a name for the dtype. */

static real SUFFIX(weight_of)(const Table *t, int64_t j, int64_t tap) {
    return t->weights == NULL ? 1 : ((const real *)t->weights)[t->starts[j] + tap];
}

/* Compute the outputs first <= j < last of a row. */
static void SUFFIX(compute_outputs)(const Table *t, const real *restrict x, real *restrict out, int64_t first, int64_t last) {
    const int64_t *restrict inputs = t->inputs, *restrict starts = t->starts;
    const real *restrict weights = (const real *)t->weights;
    if (t->taps == 1) {
        for (int64_t j = first; weights == NULL && j < last; j++) out[j] = x[inputs[j]];
        for (int64_t j = first; weights != NULL && j < last; j++) out[j] = x[inputs[j]] * weights[j];
    } else if (weights == NULL && t->taps == 2) {
        for (int64_t j = first; j < last; j++) out[j] = x[inputs[2 * j]] + x[inputs[2 * j + 1]];
    } else if (weights == NULL) {
        for (int64_t j = first; j < last; j++) {
            int64_t k = starts[j], end = starts[j + 1];
            real sum = k < end ? x[inputs[k]] : 0;
            while (++k < end) sum += x[inputs[k]];
            out[j] = sum;
        }
    } else if (t->taps == 2) {
        for (int64_t j = first; j < last; j++) {
            out[j] = x[inputs[2 * j]] * weights[2 * j] + x[inputs[2 * j + 1]] * weights[2 * j + 1];
        }
    } else if (t->taps == 4) {
        for (int64_t j = first; j < last; j++) {
            const int64_t *at = inputs + 4 * j;
            const real *w = weights + 4 * j;
            out[j] = x[at[0]] * w[0] + x[at[1]] * w[1] + x[at[2]] * w[2] + x[at[3]] * w[3];
        }
    } else {
        for (int64_t j = first; j < last; j++) {
            int64_t k = starts[j], end = starts[j + 1];
            real sum = k < end ? x[inputs[k]] * weights[k] : 0;
            while (++k < end) sum += x[inputs[k]] * weights[k];
            out[j] = sum;
        }
    }
}

static void SUFFIX(resample_row)(const Table *t, const real *restrict x, real *restrict out) {
    if (t->run > 0) SUFFIX(compute_outputs)(t, x, out, 0, t->run);
    if (t->run_end > t->run) {
        memcpy(out + t->run, x + t->inputs[t->starts[t->run]], (size_t)(t->run_end - t->run) * sizeof(real));
    }
    if (t->run_end < t->size) SUFFIX(compute_outputs)(t, x, out, t->run_end, t->size);
}

/* Set sum to the weighted sum of the rows of a picture that contribute to the output row (i, j). */
static void SUFFIX(add_up_rows)(const Table *t, const real *x, int64_t i, int64_t j, real *restrict sum) {
    int64_t n = t[2].source;
    int first = 1;
    for (int64_t a = 0; a < count_of(&t[0], i); a++) {
        for (int64_t b = 0; b < count_of(&t[1], j); b++) {
            const real *restrict row = x + (input_of(&t[0], i, a) * t[1].source + input_of(&t[1], j, b)) * n;
            real weight = SUFFIX(weight_of)(&t[0], i, a) * SUFFIX(weight_of)(&t[1], j, b);
            if (first && weight == 1) memcpy(sum, row, (size_t)n * sizeof(real));
            else if (first) for (int64_t k = 0; k < n; k++) sum[k] = row[k] * weight;
            else if (weight == 1) for (int64_t k = 0; k < n; k++) sum[k] += row[k];
            else for (int64_t k = 0; k < n; k++) sum[k] += row[k] * weight;
            first = 0;
        }
    }
    if (first) memset(sum, 0, (size_t)n * sizeof(real));
}

static void SUFFIX(resample_rows)(void *ctx, int64_t begin, int64_t end) {
    Resample *s = (Resample *)ctx;
    const Table *t = s->table, *last = &t[2];
    real *line = (real *)malloc((size_t)last->source * sizeof(real));
    if (line == NULL) {
        atomic_store(&s->failed, 1);
        return;
    }
    int64_t j = begin % t[1].size, i = begin / t[1].size % t[0].size, picture = begin / t[1].size / t[0].size;
    real *out = (real *)s->out + begin * last->size;
    const real *x = (const real *)s->x + picture * t[0].source * t[1].source * last->source;
    for (int64_t number = begin; number < end; number++, j++, out += last->size) {
        if (j == t[1].size) {
            j = 0;
            if (++i == t[0].size) i = 0, x += t[0].source * t[1].source * last->source;
        }
        if (j > 0 && number > begin && is_repeated(&t[1], j, (int)sizeof(real))) {
            memcpy(out, out - last->size, (size_t)last->size * sizeof(real));
            continue;
        }
        const real *found = last->starts == NULL ? out : line;
        int is_one = t[0].weights == NULL && t[1].weights == NULL && count_of(&t[0], i) == 1 && count_of(&t[1], j) == 1;
        if (last->starts != NULL && is_one) {
            found = x + (input_of(&t[0], i, 0) * t[1].source + input_of(&t[1], j, 0)) * last->source;
        } else {
            SUFFIX(add_up_rows)(t, x, i, j, (real *)found);
        }
        if (last->starts != NULL) SUFFIX(resample_row)(last, found, out);
        real divisor = (real)s->divisor;
        if (divisor != 1) for (int64_t k = 0; k < last->size; k++) out[k] /= divisor;
    }
    free(line);
}
