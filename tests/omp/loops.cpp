// SPDX-License-Identifier: BSL-1.0
// Loops whose chunks members take from one another: random bounds, steps and chunks, for each type
// of loop variable that has functions of its own.
#include "check.h"

#include <omp.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace {

constexpr int k_most = 3000;

/// Which iteration ran how often; the iteration with the value v is number (v - first) / step.
struct marks {
    std::vector<int> runs = std::vector<int>(k_most);
    int strays = 0;
    int disorders = 0;

    void set(std::uint64_t number) {
        if (number >= runs.size()) {
#pragma omp atomic
            ++strays;
            return;
        }
#pragma omp atomic
        ++runs[number];
    }
    bool each_once(std::uint64_t count) const {
        for (std::uint64_t i = 0; i < runs.size(); ++i) {
            if (runs[i] != (i < count ? 1 : 0)) {
                std::fprintf(stderr, "iteration %d of %d: %d times\n", static_cast<int>(i),
                             static_cast<int>(count), runs[i]);
                return false;
            }
        }
        return strays == 0;
    }
};

template <class T>
struct bounds {
    T first;
    T end;
    T step;
    std::uint64_t count;
    int chunk;
};

/// Upwards loops anywhere in the range of T, also near its ends.
template <class T>
bounds<T> random_bounds(std::mt19937_64& random) {
    bounds<T> made{};
    made.count = random() % 4 == 0 ? random() % 8 : random() % k_most;
    made.step = static_cast<T>(1 + random() % 9);
    made.chunk = static_cast<int>(random() % 3 == 0 ? 1 + random() % 200 : 1);
    const auto length = static_cast<T>(made.count * static_cast<std::uint64_t>(made.step));
    const T least = std::numeric_limits<T>::min();
    const T most = static_cast<T>(std::numeric_limits<T>::max() - length);
    switch (random() % 3) {
        case 0:
            made.first = least;
            break;
        case 1:
            made.first = static_cast<T>(most - 20);
            break;
        default:
            made.first = static_cast<T>(random() % 1000);
            break;
    }
    made.end = static_cast<T>(made.first + length);
    return made;
}

/// Some iterations take longer, so that members run out of work at different times.
void work(std::uint64_t number) {
    if (number % 64 == 63) {
        for (volatile int i = 0; i < 300;) {
            i = i + 1;
        }
    }
}

template <class T>
std::uint64_t number_of(const bounds<T>& of, T value) {
    return (static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(of.first)) /
           static_cast<std::uint64_t>(of.step);
}

template <class T>
void up(std::mt19937_64& random) {
    const bounds<T> b = random_bounds<T>(random);
    marks seen;
    T last = 0;
#pragma omp parallel for schedule(nonmonotonic : dynamic, b.chunk) lastprivate(last)
    for (T i = b.first; i < b.end; i += b.step) {
        seen.set(number_of(b, i));
        work(number_of(b, i));
        last = i;
    }
    CHECK(seen.each_once(b.count));
    CHECK(b.count == 0 || last == static_cast<T>(b.end - b.step));
}

template <class T>
void down(std::mt19937_64& random) {
    const bounds<T> b = random_bounds<T>(random);
    marks seen;
    const T from = static_cast<T>(b.first + 10000 + b.count * static_cast<std::uint64_t>(b.step));
    const T to = static_cast<T>(b.first + 10000);
    if (from < to) {
        return;  // beyond the range of T
    }
#pragma omp parallel for schedule(dynamic, b.chunk)
    for (T i = from; i > to; i -= b.step) {
        seen.set((static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(i)) /
                 static_cast<std::uint64_t>(b.step));
    }
    CHECK(seen.each_once(b.count));
}

/// With monotonic no member gets an iteration before one that it has had.
template <class T>
void in_order(std::mt19937_64& random) {
    const bounds<T> b = random_bounds<T>(random);
    marks seen;
    std::uint64_t turn = 0;
    bool turns_right = true;
#pragma omp parallel
    {
        std::uint64_t before = 0;
#pragma omp for schedule(monotonic : dynamic, b.chunk)
        for (T i = b.first; i < b.end; i += b.step) {
            const std::uint64_t number = number_of(b, i);
            if (number < before) {
#pragma omp atomic
                ++seen.disorders;
            }
            before = number;
            seen.set(number);
            work(number);
        }
#pragma omp for schedule(dynamic, b.chunk) ordered
        for (T i = b.first; i < b.end; i += b.step) {
#pragma omp ordered
            {
                turns_right = turns_right && turn == number_of(b, i);
                ++turn;
            }
        }
    }
    CHECK(seen.each_once(b.count) && seen.disorders == 0);
    CHECK(turns_right && turn == b.count);
}

/// More loops without a barrier between them than a team has places for.
void one_after_another(std::mt19937_64& random) {
    constexpr int k_loops = 20;
    const int count = static_cast<int>(random() % 200);
    const int chunk = static_cast<int>(1 + random() % 3);
    std::vector<marks> seen(k_loops);
#pragma omp parallel
    for (int loop = 0; loop < k_loops; ++loop) {
#pragma omp for schedule(nonmonotonic : dynamic, chunk) nowait
        for (int i = 0; i < count; ++i) {
            seen[static_cast<std::size_t>(loop)].set(static_cast<std::uint64_t>(i));
        }
    }
    for (const marks& each : seen) {
        CHECK(each.each_once(static_cast<std::uint64_t>(count)));
    }
}

void nested(std::mt19937_64& random) {
    const int outer = static_cast<int>(1 + random() % 40);
    const int inner = static_cast<int>(1 + random() % 60);
    marks seen;
#pragma omp parallel for schedule(nonmonotonic : dynamic) num_threads(2)
    for (int i = 0; i < outer; ++i) {
#pragma omp parallel for schedule(nonmonotonic : dynamic, 2) num_threads(3)
        for (int k = 0; k < inner; ++k) {
            seen.set(static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(inner) +
                     static_cast<std::uint64_t>(k));
        }
    }
    CHECK(seen.each_once(static_cast<std::uint64_t>(outer) * static_cast<std::uint64_t>(inner)));
}

void at_runtime(std::mt19937_64& random) {
    const omp_sched_t kinds[] = {omp_sched_dynamic, omp_sched_guided, omp_sched_static,
                                 omp_sched_auto};
    const omp_sched_t kind = kinds[random() % 4];
    omp_set_schedule(kind, static_cast<int>(1 + random() % 5));
    const int count = static_cast<int>(random() % k_most);
    marks seen;
    int simd[k_most] = {};
#pragma omp parallel
    {
#pragma omp for schedule(runtime)
        for (int i = 0; i < count; ++i) {
            seen.set(static_cast<std::uint64_t>(i));
        }
#pragma omp for simd schedule(simd : runtime)
        for (int i = 0; i < count; ++i) {
            simd[i] += 1;
        }
    }
    CHECK(seen.each_once(static_cast<std::uint64_t>(count)));
    int sum = 0;
    for (const int each : simd) {
        sum += each;
    }
    CHECK(sum == count);
}

/// A member that is slow leaves its iterations to the others: none waits for it but at the end.
void uneven() {
    constexpr int k_count = 512;
    marks seen;
#pragma omp parallel for schedule(nonmonotonic : dynamic)
    for (int i = 0; i < k_count; ++i) {
        if (i < k_count / 8) {
            for (volatile int k = 0; k < 20000;) {
                k = k + 1;
            }
        }
        seen.set(static_cast<std::uint64_t>(i));
    }
    CHECK(seen.each_once(k_count));
}

}  // namespace

int main(int argc, char** argv) {
    if (begin(argc, argv) != 0) {
        return 1;
    }
    omp_set_max_active_levels(2);
    std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    for (int round = 0; round < 12; ++round) {
        up<int>(random);
        up<unsigned>(random);
        up<long>(random);
        up<unsigned long>(random);
        down<int>(random);
        down<unsigned long>(random);
        in_order<int>(random);
        in_order<unsigned>(random);
        in_order<long>(random);
        in_order<unsigned long>(random);
        one_after_another(random);
        nested(random);
        at_runtime(random);
        uneven();
    }
    return end();
}
