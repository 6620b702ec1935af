/* SPDX-License-Identifier: BSL-1.0
 * Macros with pragmas and calls. */
#include <inttypes.h>
#define FACTOR 2
#define TASK _Pragma("omp task inout([n] v)")
#define BODY(f) void f(double *v, int n)
#define RUN_ALL(v, n) do { scale(v, (n) / 2); scale((v) + (n) / 2, (n) / 2); } while (0)
#define EACH(i, n) for (int i = 1; i < n; ++i)
#define WAIT _Pragma("omp taskwait")
TASK
BODY(scale);
