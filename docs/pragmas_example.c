/* SPDX-License-Identifier: BSL-1.0
 * The programs of docs/pragmas.md. */
#include <stdio.h>

enum { blocks = 8, size = 1000 };

/* begin first */
#pragma omp task in(n) out([n] v)
void fill(double *v, int n, double first);

#pragma omp task in([n] a, [n] b) inout(*sum)
void multiply(const double *a, const double *b, int n, double *sum);

void solve(double a[blocks][size], double b[blocks][size], double sum[blocks]) {
    for (int i = 0; i < blocks; i++) {
        fill(a[i], size, i);
        fill(b[i], size, 1);
        multiply(a[i], b[i], size, &sum[i]);  /* begins when both blocks are filled */
    }
#pragma omp taskwait
}
/* end first */

void fill(double *v, int n, double first) {
    for (int i = 0; i < n; i++) {
        v[i] = first + i;
    }
}

void multiply(const double *a, const double *b, int n, double *sum) {
    for (int i = 0; i < n; i++) {
        *sum += a[i] * b[i];
    }
}

/* begin children */
#pragma omp task inout([n] v) priority(n)
static void sort(int *v, int n) {
    if (n < 2) {
        return;
    }
    int middle = 0;
    for (int i = 1; i < n; i++) {
        if (v[i] < v[0]) {
            const int small = v[i];
            v[i] = v[++middle];
            v[middle] = small;
        }
    }
    const int first = v[0];
    v[0] = v[middle];
    v[middle] = first;
    sort(v, middle);  /* tasks within the running task: the caller's task ends after them */
    sort(v + middle + 1, n - middle - 1);
}
/* end children */

/* begin statements */
static double sum_of_squares(const double *v, int n) {
    double sum = 0;
    for (int i = 0; i < n; i += 100) {
#pragma omp task in(v[i;100]) commutative(sum)
        for (int k = i; k < i + 100; k++) {
            sum += v[k] * v[k];
        }
    }
#pragma omp taskwait on(sum)
    return sum;
}
/* end statements */

int main(void) {
    static double a[blocks][size], b[blocks][size], sum[blocks];
    solve(a, b, sum);
    int v[200];
    for (int i = 0; i < 200; i++) {
        v[i] = (i * 77) % 200;
    }
    sort(v, 200);
#pragma omp taskwait
    printf("%g %d %d %g\n", sum[7], v[0], v[199], sum_of_squares(b[0], size));
    return 0;
}
