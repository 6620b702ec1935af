/* SPDX-License-Identifier: BSL-1.0
 * Headers of the system, and macros of a header of the program that contain pragmas and calls. */
#define _GNU_SOURCE
#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>

#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "headers.h"
static void logf_(const char* f, ...) {
    va_list a;
    va_start(a, f);
    vfprintf(stderr, f, a);
    va_end(a);
}
BODY(scale) {
    if (isnan(v[0]) || !isfinite(v[0])) abort();
    for (int i = 0; i < n; ++i)
        v[i] *= FACTOR;
}
int main(void) {
    double v[100];
    for (int i = 0; i < 100; i++)
        v[i] = 1.5;
    double complex z = 1 + 2 * I;
    cpu_set_t s;
    CPU_ZERO(&s);
    RUN_ALL(v, 100);
    assert(errno == 0 && cabs(z) > 0);
    logf_("x%d\n", toupper('a'));
    bool b = true;
    atomic_int k = 0;
    atomic_fetch_add(&k, b);
    EACH(i, 3) scale(v, i);
    WAIT double t = 0;
    for (int i = 0; i < 100; ++i)
        t += v[i];
    printf("%g %s\n", t, strdup("q"));
    if (0) fprintf(stdout, "%" PRIu64, (uint64_t)1);
    return 0;
}
