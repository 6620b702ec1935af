// SPDX-License-Identifier: BSL-1.0
// The Quern examples of docs/porting/tbb.md, run and checked. The lines between two markers
// `// [name]` are those of the page, which ../check_examples.py compares. oneTBB is not needed.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

TEST(porting_from_tbb, a_loop) {
    const int rows = 30, columns = 40;
    std::vector<double> x(rows * columns, 1.0), y(rows * columns, 2.0);
    const double a = 3.0;
    // [parallel_for]
    quern::parallel_for(0, x.size(), [&](std::size_t i) { y[i] += a * x[i]; });
    // [parallel_for]
    EXPECT_EQ(y, std::vector<double>(x.size(), 5.0));
    // [rows]
    quern::parallel_for(0, rows, [&](int row) {
        for (int column = 0; column < columns; ++column) {
            y[row * columns + column] -= column;
        }
    });
    // [rows]
    EXPECT_EQ(std::accumulate(y.begin(), y.end(), 0.0),
              5.0 * rows * columns - rows * (columns * (columns - 1) / 2.0));
}

TEST(porting_from_tbb, a_reduction) {
    std::vector<int> x(1'000);
    std::iota(x.begin(), x.end(), -500);
    // [parallel_reduce]
    const long sum = quern::parallel_reduce(
        0, x.size(), 0L, [&](std::size_t i) { return long(x[i]); }, std::plus<>{});
    // [parallel_reduce]
    EXPECT_EQ(sum, -500);
}

// [parallel_invoke]
void sort(std::span<int> part) {
    if (part.size() < 64) {
        std::sort(part.begin(), part.end());
        return;
    }
    const int pivot = part[part.size() / 2];
    const auto low = std::partition(part.begin(), part.end(), [&](int v) { return v < pivot; });
    const auto high = std::partition(low, part.end(), [&](int v) { return v == pivot; });
    quern::fork_join([&] { sort({part.begin(), low}); }, [&] { sort({high, part.end()}); });
}
// [parallel_invoke]

TEST(porting_from_tbb, two_calls_at_once) {
    std::vector<int> x(10'000);
    unsigned state = 1;
    for (int& each : x) {
        each = static_cast<int>((state = state * 1'664'525U + 1'013'904'223U) >> 20);
    }
    auto expected = x;
    std::sort(expected.begin(), expected.end());
    sort(x);
    EXPECT_EQ(x, expected);
}

struct block {
    int value = 1;
};
void refine(block& b) { b.value += 1; }

TEST(porting_from_tbb, a_task_group) {
    std::vector<block> blocks(100);
    // [task_group]
    quern::task_group group;
    for (block& b : blocks) {
        group.run([&b] { refine(b); });
    }
    group.wait();
    // [task_group]
    for (const block& b : blocks) {
        EXPECT_EQ(b.value, 2);
    }
}

int load() { return 10; }
int left_of(int v) { return v + 1; }
int right_of(int v) { return v * 2; }

TEST(porting_from_tbb, a_graph) {
    // [graph]
    quern::shared_future<int> source = quern::async(load);
    auto left = source.then([](auto v) { return left_of(v.get()); });
    auto right = source.then([](auto v) { return right_of(v.get()); });
    auto sum = quern::dataflow(quern::unwrapping([](int l, int r) { return l + r; }),
                               std::move(left), std::move(right));
    // [graph]
    EXPECT_EQ(sum.get(), 31);
}

class source {
public:
    std::optional<std::string> read() {
        return m_next < 50 ? std::optional(std::to_string(m_next++)) : std::nullopt;
    }

private:
    int m_next = 0;
};
int parse(const std::string& text) { return std::stoi(text); }

TEST(porting_from_tbb, a_pipeline) {
    source in;
    std::vector<int> out;
    // [pipeline]
    quern::pipeline(
        16, [&] { return in.read(); },  // one call at a time
        quern::in_parallel([](const std::string& text) { return parse(text); }),
        quern::in_order([&](int value) { out.push_back(value); }));
    // [pipeline]
    std::vector<int> expected(50);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(out, expected);
}

TEST(porting_from_tbb, a_pipeline_throws_what_a_stage_throws) {
    source in;
    std::vector<int> out;
    const auto parse_but_one = [](const std::string& text) {
        return text == "20" ? throw std::runtime_error("bad line") : parse(text);
    };
    const auto run = [&] {
        quern::pipeline(
            16, [&] { return in.read(); }, quern::in_parallel(parse_but_one),
            quern::in_order([&](int value) { out.push_back(value); }));
    };
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_GE(out.size(), 20U);
    EXPECT_EQ(std::count(out.begin(), out.end(), 20), 0);
    EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
}

TEST(porting_from_tbb, an_arena) {
    const auto render = [] { return quern::current_pool().workers(); };
    // [arena]
    quern::runtime arena(quern::runtime_options::with_workers(2));
    const unsigned workers = quern::async(arena, render).get();  // execute
    quern::post({.pool = &arena.default_pool().get()}, render);  // enqueue
    // [arena]
    EXPECT_EQ(workers, 2U);
}

using histogram = std::vector<long>;

TEST(porting_from_tbb, a_histogram_without_thread_specific_data) {
    std::vector<unsigned> samples(10'000);
    std::iota(samples.begin(), samples.end(), 0U);
    constexpr std::size_t k_bins = 10, k_block = 1'000;
    // [combinable]
    const auto add = [](histogram a, const histogram& b) {
        std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>{});
        return a;
    };
    const auto count_block = [&](std::size_t n) {
        histogram bins(k_bins);
        for (std::size_t i = n * k_block; i < (n + 1) * k_block; ++i) {
            ++bins[samples[i] % k_bins];
        }
        return bins;
    };
    const histogram all =
        quern::parallel_reduce(0, samples.size() / k_block, histogram(k_bins), count_block, add);
    // [combinable]
    EXPECT_EQ(all, histogram(k_bins, 1'000));
}

}  // namespace
