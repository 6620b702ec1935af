// SPDX-License-Identifier: BSL-1.0
// What clang compiles otherwise than gcc, or what gcc has not: captured variables of any number,
// untied tasks in parts, reductions by tasks, loops with ordered(n), events, dependences on all
// memory. Holds of each compiler's own library too.
#include "check.h"

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int k_count = 1000;

void captured_variables() {
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
    std::atomic<long> sum{0};
#pragma omp parallel firstprivate(a)
    sum += a;
    CHECK(sum > 0 && sum <= omp_get_max_threads());
    const long threads = sum;
    sum = 0;
#pragma omp parallel firstprivate(a, b, c, d)
    sum += a + b + c + d;
    CHECK(sum == threads * 10);
    sum = 0;
#pragma omp parallel firstprivate(a, b, c, d, e)
    sum += a + b + c + d + e;
    CHECK(sum == threads * 15);
    sum = 0;
    double x = 0.5;
    long h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15, p = 16, q = 17, r = 18;
#pragma omp parallel firstprivate(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, x)
    {
        alignas(32) volatile char room[32] = {};  // faults if the stack is not aligned
        sum += a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + long(2 * x) +
               room[3];
    }
    CHECK(sum == threads * 172);
}

int fib_untied(int n) {
    if (n < 2) {
        return n;
    }
    int a = 0;
    int b = 0;
#pragma omp task untied shared(a)
    a = fib_untied(n - 1);
#pragma omp task untied shared(b)
    {
        b = fib_untied(n - 2);
#pragma omp taskyield
        b += 1;
#pragma omp taskwait
        b -= 1;
    }
#pragma omp taskwait
    return a + b;
}

void untied_tasks() {
    int result = 0;
#pragma omp parallel
#pragma omp single
    result = fib_untied(17);
    CHECK(result == 1597);
}

struct counted {
    static std::atomic<int> alive;
    int value = 0;
    explicit counted(int v) : value(v) { ++alive; }
    counted(const counted& other) : value(other.value) { ++alive; }
    ~counted() { --alive; }
};
std::atomic<int> counted::alive{0};

void objects_in_tasks() {
    {
        std::atomic<int> sum{0};
        const counted one(3);
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(one) if (i % 3 != 0)
                sum += one.value;
            }
#pragma omp taskloop firstprivate(one)
            for (int i = 0; i < 100; ++i) {
                sum += one.value;
            }
        }
        CHECK(sum == 600);
    }
    CHECK(counted::alive == 0);
}

void task_loops() {
    std::vector<int> mark(k_count);
    int last = -1;
    long sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(7) lastprivate(last)
        for (int i = 0; i < k_count; ++i) {
            mark[static_cast<std::size_t>(i)]++;
            last = i;
        }
#pragma omp taskloop num_tasks(3) reduction(+ : sum)
        for (unsigned long i = 1; i <= k_count; ++i) {
            sum += static_cast<long>(i);
        }
#pragma omp taskloop grainsize(strict : 11) if (sum < 0)
        for (long i = k_count - 1; i >= 0; i -= 3) {
            mark[static_cast<std::size_t>(i)]++;
        }
#pragma omp taskloop collapse(2) nogroup
        for (int i = 0; i < 10; ++i) {
            for (int j = 0; j < 100; ++j) {
                mark[static_cast<std::size_t>(i * 100 + j)]++;
            }
        }
    }
    CHECK(last == k_count - 1);
    CHECK(sum == 500500);
    long marks = 0;
    for (const int each : mark) {
        marks += each;
    }
    CHECK(marks == 2 * k_count + (k_count + 2) / 3);
}

long add_tree(int depth) {
    long sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
    {
        for (int i = 0; i < 4; ++i) {
#pragma omp task in_reduction(+ : sum)
            sum += depth > 0 ? add_tree(depth - 1) : 1;
        }
    }
    return sum;
}

struct vector_of_two {
    double x = 0;
    double y = 0;
};
#pragma omp declare reduction(add:vector_of_two                                 \
                              : (omp_out.x += omp_in.x, omp_out.y += omp_in.y)) \
    initializer(omp_priv = vector_of_two())

void task_reductions() {
    long sum = 0;
    vector_of_two both;
    int largest = 0;
#pragma omp parallel
#pragma omp single
    sum = add_tree(4);
    CHECK(sum == 1024);
    sum = 0;
#pragma omp parallel reduction(task, + : sum)
    {
#pragma omp single
        for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : sum)
            sum += i;
        }
    }
    CHECK(sum == 4950);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(add : both) task_reduction(max : largest)
    for (int i = 1; i <= 100; ++i) {
#pragma omp task in_reduction(add : both) in_reduction(max : largest)
        {
            both.x += i;
            both.y -= i;
            largest = largest > i ? largest : i;
        }
    }
    CHECK(both.x == 5050 && both.y == -5050 && largest == 100);
    vector_of_two loop;
#pragma omp parallel for reduction(add : loop) schedule(dynamic, 3)
    for (int i = 1; i <= 100; ++i) {
        loop.x += i;
        loop.y += 1;
    }
    CHECK(loop.x == 5050 && loop.y == 100);
}

void ordered_loops() {
    std::vector<long> at(k_count);
    at[0] = 1;
#pragma omp parallel for ordered(1) schedule(dynamic, 5)
    for (int i = 1; i < k_count; ++i) {
#pragma omp ordered depend(sink : i - 1)
        at[static_cast<std::size_t>(i)] = at[static_cast<std::size_t>(i - 1)] + i % 3;
#pragma omp ordered depend(source)
    }
    long expected = 1;
    for (int i = 1; i < k_count; ++i) {
        expected += i % 3;
    }
    CHECK(at[k_count - 1] == expected);
    constexpr int k_side = 40;
    static long grid[k_side][k_side];
    for (int i = 0; i < k_side; ++i) {
        grid[i][0] = grid[0][i] = 1;
    }
#pragma omp parallel for ordered(2)
    for (int i = 1; i < k_side; ++i) {
        for (int j = 1; j < k_side; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 1000003;
#pragma omp ordered depend(source)
        }
    }
    static long serial[k_side][k_side];
    bool same = true;
    for (int i = 0; i < k_side; ++i) {
        for (int j = 0; j < k_side; ++j) {
            serial[i][j] = i == 0 || j == 0 ? 1 : (serial[i - 1][j] + serial[i][j - 1]) % 1000003;
            same = same && serial[i][j] == grid[i][j];
        }
    }
    CHECK(same);
    int next = 0;
    bool in_order = true;
#pragma omp parallel for ordered schedule(static, 3)
    for (int i = 0; i < 200; ++i) {
#pragma omp ordered
        in_order = in_order && next++ == i;
    }
    CHECK(in_order && next == 200);
}

void dependences() {
    int x = 0;
    int y = 0;
    bool in_order = true;
#pragma omp parallel
#pragma omp single
    {
        omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
        for (int i = 0; i < 100; ++i) {
#pragma omp task depend(depobj : object) shared(x, in_order)
            in_order = in_order && x++ == i;
        }
#pragma omp task depend(inoutset : y)
#pragma omp atomic
        y += 1;
#pragma omp task depend(inoutset : y)
#pragma omp atomic
        y += 1;
#pragma omp task depend(inout : omp_all_memory) shared(x, y, in_order)
        {
            in_order = in_order && x == 100 && y == 2;
            x = 1000;
        }
#pragma omp task depend(in : x) shared(x, in_order)
        in_order = in_order && x == 1000;
#pragma omp taskwait depend(in : x)
        in_order = in_order && x == 1000;
#pragma omp task if (0) depend(inout : x)
        x++;
        in_order = in_order && x == 1001;
#pragma omp depobj(object) destroy
    }
    CHECK(in_order);
}

void events() {
    std::atomic<int> ended{0};
    bool in_order = true;
    int x = 0;
    std::vector<std::thread> threads;
    omp_event_handle_t early{};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 20; ++i) {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) firstprivate(i)
            x = i;
            threads.emplace_back([event, &ended] {
                std::this_thread::yield();
                ++ended;
                omp_fulfill_event(event);
            });
        }
#pragma omp taskwait
        in_order = in_order && ended == 20 && x == 19;
#pragma omp taskgroup
        {
#pragma omp task detach(early)
            omp_fulfill_event(early);
        }
    }
    for (std::thread& each : threads) {
        each.join();
    }
    CHECK(in_order);
}

struct alignas(64) line {
    int value = 1;
    line() = default;
    line(const line& other) : value(other.value) {}  // not trivial: the library's memory holds it
    ~line() {}
    bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(opaque(this)) % 64 == 0; }
    /// The compiler believes what the type says.
    [[gnu::noinline]] static const void* opaque(const void* at) {
        asm volatile("" : "+r"(at));
        return at;
    }
};
line line_per_thread;
#pragma omp threadprivate(line_per_thread)

/// Copies of aligned types, in tasks and of each thread. The types are of a cache line, as libomp
/// aligns them.
void aligned_copies() {
    std::atomic<int> bad{0};
#pragma omp parallel
    {
        bad += line_per_thread.is_aligned() ? 0 : 1;
#pragma omp single
        for (int i = 0; i < 30; ++i) {
            line copied;
#pragma omp task firstprivate(copied)
            bad += copied.is_aligned() ? 0 : 1;
#pragma omp task firstprivate(copied, i)
            bad += copied.is_aligned() && i >= 0 ? 0 : 1;
        }
    }
    CHECK(bad == 0);
}

int per_thread = 5;
#pragma omp threadprivate(per_thread)

void regions() {
    int told = 0;
    bool all_know = true;
    std::atomic<int> inner{0};
#pragma omp parallel reduction(&& : all_know)
    {
        int known = -1;
#pragma omp single copyprivate(known)
        known = 42;
        all_know = all_know && known == 42;
#pragma omp masked filter(omp_get_num_threads() - 1)
        told = omp_get_thread_num() + 1;
#pragma omp parallel if (0)
        inner += omp_get_num_threads() + 10 * omp_get_level();
#pragma omp cancellation point parallel
    }
    CHECK(all_know);
    CHECK(told >= 1);
    CHECK(inner % 21 == 0 && inner > 0);
    int sum = 0;
#pragma omp teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) {
        sum += i;
    }
    CHECK(sum == 4950);
    per_thread = 7;
    bool copied = true;
#pragma omp parallel copyin(per_thread) reduction(&& : copied) num_threads(3)
    {
        copied = copied && per_thread == 7;
        per_thread += omp_get_thread_num();
    }
    CHECK(copied && per_thread == 7);
    sum = 0;
#pragma omp parallel for collapse(2) schedule(guided) reduction(+ : sum)
    for (unsigned char i = 0; i < 20; ++i) {
        for (long long j = 10; j > 0; --j) {
            sum += static_cast<int>(j);
        }
    }
    CHECK(sum == 1100);
#pragma omp parallel sections reduction(+ : sum)
    {
#pragma omp section
        sum += 1;
#pragma omp section
        sum += 2;
#pragma omp section
        sum += 3;
    }
    CHECK(sum == 1106);
    long simd = 0;
#pragma omp parallel for simd schedule(simd : static, 4) reduction(+ : simd)
    for (int i = 0; i < 103; ++i) {
        simd += i;
    }
    CHECK(simd == 5253);
}

}  // namespace

int main(int argc, char** argv) {
    if (begin(argc, argv) != 0) {
        return 1;
    }
    captured_variables();
    untied_tasks();
    objects_in_tasks();
    task_loops();
    task_reductions();
    ordered_loops();
    dependences();
    events();
    aligned_copies();
    regions();
    return end();
}
