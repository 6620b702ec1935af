// SPDX-License-Identifier: BSL-1.0
// Declarations as programs write them: names of array types, qualifiers within brackets, ranges of
// members, tasks before main(), a form feed.
#include <stdio.h>

enum { size = 8, rounds = 40 };
typedef double tile[size][size];
struct matrix {
    int n;
    double* data;
};

#pragma omp task in(a) inout(b)
static void add(const tile a, tile b) {
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            b[i][j] += a[i][j];
        }
    }
}

#pragma omp task inout([size] row)
static void halve(double* row, int by) {
    for (int i = 0; i < size; i++) {
        row[i] = row[i] * 0.5 + by;
    }
}

#pragma omp task inout(v)
static void count_up(int n, double v[restrict static n]) {
    for (int i = 0; i < n; i++) {
        v[i] += i;
    }
}

#pragma omp task in(m->data[0;n]) inout(*sum)
static void sum_of(const struct matrix* m, int n, double* sum) {
    for (int i = 0; i < n; i++) {
        *sum += m->data[i];
    }
}

#pragma omp task inout(m.data[from:to])
static void grow(struct matrix m, int from, int to) {
    for (int i = from; i <= to; i++) {
        m.data[i] = m.data[i] * 1.25 + i;
    }
}

#pragma omp task inout(rows[r][0;n])
static void grow_row(double **rows, int r, int n) {
    const struct matrix row = {n, rows[r]};
    (grow)(row, 0, n - 1);
}

static double of_tile(tile a) {
#pragma omp task inout(a)
    {
        for (int i = 0; i < size; i++) {
            a[i][i] += 1;
        }
    }
#pragma omp taskwait
    return a[size - 1][size - 1];
}


static double before_main = 3;
__attribute__((constructor)) static void begin(void) {
    const struct matrix one = {1, &before_main};
    grow(one, 0, 0);
#pragma omp taskwait
}

int main(void) {
    static tile a, b;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            a[i][j] = i * j % 5;
        }
    }
    double v[2 * size] = {0}, sum = 0, *rows[] = {v, v + size};
    const struct matrix m = {2 * size, v};
    for (int i = 0; i < rounds; i++) {
        add(a, b);
        halve(b[i % size], i);
        count_up(size, v);
        count_up(2 * size, v);
        grow(m, size - 1, 2 * size - 1);
        grow_row(rows, i % 2, size);
        sum_of(&m, 2 * size, &sum);
    }
#pragma omp taskwait
    printf("%.10g %.10g %.10g %.10g %d\n", b[1][1], b[size - 1][3], sum + before_main, of_tile(b),
           __LINE__);
    return 0;
}
