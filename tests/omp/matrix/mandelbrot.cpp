// SPDX-License-Identifier: BSL-1.0
// The Mandelbrot set in fixed-point numbers, row by row and pixel by pixel: every schedule, loop
// variables of 4 and 8 bytes with and without a sign, downwards, by a step, collapsed, and over a
// random-access iterator. All pictures must be the serial one.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int k_width = 80, k_height = 48, k_most = 60;

using picture = std::vector<std::uint8_t>;

std::uint8_t pixel(int x, int y) {
    constexpr std::int64_t one = 1 << 20;
    const std::int64_t cr = (x * 3 * one) / k_width - 2 * one, ci = (y * 2 * one) / k_height - one;
    std::int64_t zr = 0, zi = 0;
    for (int n = 0; n < k_most; ++n) {
        const std::int64_t rr = zr * zr / one, ii = zi * zi / one;
        if (rr + ii > 4 * one) return static_cast<std::uint8_t>(n);
        zi = 2 * zr * zi / one + ci;
        zr = rr - ii + cr;
    }
    return k_most;
}

void row(picture& to, int y) {
    for (int x = 0; x < k_width; ++x)
        to[y * k_width + x] = pixel(x, y);
}

picture by_guided() {
    picture to(k_width * k_height);
#pragma omp parallel for schedule(guided, 2)
    for (std::uint64_t y = 0; y < k_height; ++y)
        row(to, static_cast<int>(y));
    return to;
}

picture by_dynamic_downwards() {
    picture to(k_width * k_height);
#pragma omp parallel for schedule(nonmonotonic : dynamic)
    for (std::int64_t y = k_height - 1; y >= 0; --y)
        row(to, static_cast<int>(y));
    return to;
}

picture by_pixels() {
    picture to(k_width * k_height);
#pragma omp parallel for collapse(2) schedule(dynamic, 37)
    for (int y = 0; y < k_height; ++y) {
        for (unsigned x = 0; x < k_width; ++x)
            to[y * k_width + x] = pixel(static_cast<int>(x), y);
    }
    return to;
}

// Odd rows first, then even ones; the two loops of the region do not wait for one another.
picture by_steps() {
    picture to(k_width * k_height);
    long rows = 0;
#pragma omp parallel reduction(+ : rows)
    {
#pragma omp for schedule(static, 3) nowait
        for (unsigned y = 1; y < k_height; y += 2) {
            row(to, static_cast<int>(y));
            ++rows;
        }
#pragma omp for schedule(monotonic : dynamic, 2) nowait
        for (int y = 0; y < k_height; y += 2) {
            row(to, y);
            ++rows;
        }
    }
    return rows == k_height ? to : picture{};
}

picture by_iterators() {
    picture to(k_width * k_height);
    std::vector<int> rows;
    for (int y = 0; y < k_height; ++y)
        rows.push_back(y * 7 % k_height);
#pragma omp parallel for schedule(static)
    for (auto i = rows.begin(); i < rows.end(); ++i)
        row(to, *i);
    return to;
}

picture by_runtime() {
    picture to(k_width * k_height);
#pragma omp parallel
    {
#pragma omp for schedule(runtime) nowait
        for (int y = 0; y < k_height / 2; ++y)
            row(to, y);
#pragma omp for schedule(auto)
        for (int y = k_height / 2; y < k_height; ++y)
            row(to, y);
    }
    return to;
}

}  // namespace

int main() {
    picture serial(k_width * k_height);
    for (int y = 0; y < k_height; ++y)
        row(serial, y);
    const picture all[] = {by_guided(), by_dynamic_downwards(), by_pixels(),
                           by_steps(),  by_iterators(),         by_runtime()};
    int number = 0;
    for (const picture& one : all) {
        if (one != serial) {
            std::fprintf(stderr, "mandelbrot: picture %d differs from the serial one\n", number);
            return 1;
        }
        ++number;
    }
    std::uint64_t sum = 0;
    for (const std::uint8_t p : serial)
        sum = sum * 31 + p;
    std::printf("mandelbrot %d %016llx\n", number, static_cast<unsigned long long>(sum));
}
