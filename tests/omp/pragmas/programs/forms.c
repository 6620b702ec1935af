/* SPDX-License-Identifier: BSL-1.0
 * One of each form of a clause, in functions and statements. */
#include <stdio.h>
#define LEN 4
#define UPDATE(i) update(x[i], y + 4 * (i), LEN)
typedef struct {
    double re, im;
} cplx;
#pragma omp task in(t) \
    inout([LEN] v)
void update(const double t[LEN], double* v, int n) {
    for (int i = 0; i < n; ++i)
        v[i] += t[i];
}
#pragma omp task in(a[0;n], a[n:2*n-1]) reduction(+:s) priority(3) label(total)
void sum(const double* a, int n, double* s) {
    for (int i = 0; i < 2 * n; i++)
        *s += a[i];
}
#pragma css task inout(c{1..2}{0:3}) input(n) highpriority
void block(int n, double c[n][n + 1]) {
    c[1][0] += 1;
    c[2][2] += n;
}
#pragma omp task out(z) commutative(*q) concurrent(r)
void cx(cplx* z, int* q, cplx w, float r[], void (*cb)(int)) {
    *z = w;
    *q += 1;
    if (cb) cb(1);
    r[0] = 1;
}
#pragma omp task inout(v[0;n])
static void nested(double* v, int n) {
    if (n > 1) {
        nested(v, n / 2);
        nested(v + n / 2, n - n / 2);
#pragma omp taskwait
        v[0] += 1;
    }
}
static void cb(int i) { (void)i; }
void none(void);
#pragma omp task
void none(void) {}
int main(void) {
    double x[3][LEN] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, y[12] = {0}, s = 0;
    for (int i = 0; i < 3; i++)
        UPDATE(i);
    sum(y, 6, &s);
    sum(y, 6, &s);
    double c[4][5] = {{0}};
    for (int i = 0; i < 5; ++i)
        block(4, c);
    cplx z = {0, 0};
    int q = 0;
    float r[2];
    for (int i = 0; i < 4; ++i)
        cx(&z, &q, (cplx){i, 2}, r, i & 1 ? cb : NULL), none();
#pragma omp taskwait on(q)
    printf("q %d\n", q);
#pragma css barrier
    (update)(x[0], y, 1);
    double v[64] = {0};
    nested(v, 64);
#pragma omp taskwait
    double t = 0;
    for (int i = 0; i < 64; ++i)
        t += v[i] * (i + 1);
    printf("%g %g %g %g %g %g %g\n", s, y[0], y[11], c[1][0], c[2][2], z.re, t);
    int k = 5, out = 0;
    double arr[4] = {1, 2, 3, 4};
    for (int i = 0; i < 3; ++i) {
#pragma omp task inout(out) firstprivate(i)
        { out += i * k; }
    }
#pragma omp task in(arr) inout(out)
    for (int j = 0; j < 4; ++j)
        out += arr[j];
#pragma omp task inout(out)
    out *= 2;
#pragma omp taskwait
    printf("%d %d\n", out, k);
}
