// SPDX-License-Identifier: BSL-1.0
// What only looks like pragmas, digits with separators, lambdas of namespaces, members in ranges,
// constant names of array types.
#include <cstdio>
#include <cstring>

const char* const text = R"(
#pragma omp task inout(*p)
void f(int *p);
#define f g
# 7 "x.c"
)"
                         R"x()"
#pragma omp tsk
)x";

using row = int[4];

#pragma omp task inout(*p)
void f(int* p, int by = 1'000);
void f(int* p, int by) { *p += by; }

#pragma omp task in(from) inout(to)
static void add(const row from, row to) {
    for (int i = 0; i < 4; i++) {
        to[i] += from[i];
    }
}

static const int before_main = [] {
    int x = 0;
    f(&x);
#pragma omp taskwait
    return x;
}();

struct grid {
    int cells[64] = {};
    int* part = cells + 8;
    void step() {
        for (int i = 0; i < 56; i += 8) {
#pragma omp task inout(cells[i;8])
            for (int k = i; k < i + 8; k++) {
                cells[k] = cells[k] * 3 + k;
            }
#pragma omp task inout(part[i;8])
            for (int k = i; k < i + 8; k++) {
                part[k]++;
            }
        }
#pragma omp taskwait
    }
};

int main() {
    int x = 0;
    row a = {1, 2, 3, 4}, b = {};
    for (int i = 0; i < 10; i++) {
        f(&x);
        f(&x, 1);
        add(a, b);
    }
#pragma omp taskwait
    grid g;
    g.step();
    g.step();
    std::printf("%d %d %d %d %zu %d\n", x, b[3], before_main, g.cells[20] + g.cells[63],
                std::strlen(text), __LINE__);
}
