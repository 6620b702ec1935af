/* SPDX-License-Identifier: BSL-1.0 */
/* What the OpenMP programs of these tests share: a count of failures, and the proof that they run on Quern. */
#ifndef QUERN_TESTS_OMP_CHECK_H
#define QUERN_TESTS_OMP_CHECK_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char* what, int line) {
    if (!holds) {
        fprintf(stderr, "line %d: %s\n", line, what);
        ++failures;
    }
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

/* With the argument --on-quern: ends the program unless its OpenMP library is Quern's. */
static int begin(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "--on-quern") == 0 && dlsym(RTLD_DEFAULT, "quern_omp_version") == 0) {
        fputs("this program does not run on Quern\n", stderr);
        return 1;
    }
    return 0;
}

static int end(void) {
    if (failures != 0) {
        fprintf(stderr, "%d failures\n", failures);
    }
    return failures != 0;
}

#endif
