// SPDX-License-Identifier: BSL-1.0
// Filters of an image with objects of C++ as firstprivate: tasks, a taskloop and a loop get copies
// of a kernel that owns memory and counts its copies; the loop gives the last one back by
// lastprivate. All copies must be destroyed, and the pixels must be those of the serial filter.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int k_width = 96, k_height = 64, k_rows = 5;

std::atomic<int> alive{0}, copies{0};

class kernel {
public:
    explicit kernel(std::vector<int> weights) : m_weights(std::move(weights)) { ++alive; }
    kernel() : kernel({0}) {}
    kernel(const kernel& other) : m_weights(other.m_weights), m_last_row(other.m_last_row) {
        ++alive;
        ++copies;
    }
    kernel& operator=(const kernel&) = default;
    ~kernel() {
        m_weights.assign(m_weights.size(), -1);
        --alive;
    }

    // Not const: each copy may change what it owns.
    void apply(const std::vector<int>& from, std::vector<int>& to, int row) {
        const int radius = static_cast<int>(m_weights.size()) / 2;
        for (int x = 0; x < k_width; ++x) {
            int sum = 0;
            for (int k = -radius; k <= radius; ++k) {
                const int column = (x + k + k_width) % k_width,
                          line = (row + k + k_height) % k_height;
                sum += m_weights[k + radius] *
                       (from[row * k_width + column] + from[line * k_width + x]);
            }
            to[row * k_width + x] = sum / 16;
        }
        m_last_row = row;
    }
    int last_row() const { return m_last_row; }

private:
    std::vector<int> m_weights;
    int m_last_row = -1;
};

using image = std::vector<int>;

image by_tasks(const image& from, kernel filter) {
    image to(from.size());
#pragma omp parallel
#pragma omp single
    for (int row = 0; row < k_height; row += k_rows) {
#pragma omp task firstprivate(filter, row) shared(from, to)
        for (int r = row; r < row + k_rows && r < k_height; ++r)
            filter.apply(from, to, r);
    }
    return to;
}

image by_taskloop(const image& from, kernel filter) {
    image to(from.size());
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(filter) grainsize(7) shared(from, to)
    for (int row = 0; row < k_height; ++row)
        filter.apply(from, to, row);
    return to;
}

image by_loop(const image& from, kernel filter, int& last) {
    image to(from.size());
#pragma omp parallel for firstprivate(filter) lastprivate(filter) schedule(guided, 3)
    for (int row = 0; row < k_height; ++row)
        filter.apply(from, to, row);
    last = filter.last_row();
    return to;
}

image serially(const image& from, kernel filter) {
    image to(from.size());
    for (int row = 0; row < k_height; ++row)
        filter.apply(from, to, row);
    return to;
}

}  // namespace

int main() {
    image given(k_width * k_height);
    for (int i = 0; i < k_width * k_height; ++i)
        given[i] = (i * 131 + i / k_width * 17) % 256;
    int last = -1;
    bool same = false;
    std::uint64_t sum = 0;
    {
        const kernel blur({1, 2, 3, 2, 1}), edge({-3, 0, 5, 0, -1}), sharp({-1, 6, -1});
        const image result = by_loop(by_taskloop(by_tasks(given, blur), sharp), edge, last);
        const image expected = serially(serially(serially(given, blur), sharp), edge);
        same = result == expected;
        for (const int pixel : result)
            sum = sum * 31 + static_cast<std::uint64_t>(pixel);
    }
    if (!same || alive != 0 || copies < (k_height + k_rows - 1) / k_rows || last != k_height - 1) {
        std::fprintf(stderr,
                     "image_filter: %s pixels, %d kernels are left of %d copies, last row %d\n",
                     same ? "the same" : "other", alive.load(), copies.load(), last);
        return 1;
    }
    std::printf("image_filter %016llx\n", static_cast<unsigned long long>(sum));
}
