// SPDX-License-Identifier: BSL-1.0
// The Quern examples of docs/porting/hpx.md, run and checked. The lines between two markers
// `// [name]` are those of the page, which ../check_examples.py compares. HPX itself is not needed.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

namespace a_program {

int solve(int arguments) { return arguments == 1 ? 42 : 1; }

// [main]
int main(int argc, char** argv) {
    return quern::main(argc, argv, [](int count, char**) { return solve(count); });
}
// [main]

}  // namespace a_program

TEST(porting_from_hpx, the_frame_of_main) {
    char program[] = "program";
    char option[] = "--quern:threads=2";
    char* argv[] = {program, option, nullptr};
    EXPECT_EQ(a_program::main(2, argv), 42) << "the option is gone when the body is called";
}

// [fibonacci]
long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}
// [fibonacci]

TEST(porting_from_hpx, fibonacci_without_futures) { EXPECT_EQ(fib(20), 6765); }

using partition = std::vector<double>;

double heat(double left, double middle, double right) {
    return middle + 0.25 * (left - 2 * middle + right);
}

partition relax(const partition& left, const partition& middle, const partition& right) {
    const std::size_t n = middle.size();
    partition next(n);
    for (std::size_t i = 0; i < n; ++i) {
        next[i] = heat(i == 0 ? left.back() : middle[i - 1], middle[i],
                       i + 1 == n ? right.front() : middle[i + 1]);
    }
    return next;
}

std::vector<quern::shared_future<partition>> run_stencil(std::vector<partition> initial,
                                                         int steps) {
    // [stencil]
    const std::size_t parts = initial.size();
    std::vector<quern::shared_future<partition>> now, next(parts);
    for (partition& each : initial) {
        now.push_back(quern::make_ready_future(std::move(each)));
    }
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < parts; ++i) {
            next[i] = quern::dataflow(quern::unwrapping(relax), now[(i + parts - 1) % parts],
                                      now[i], now[(i + 1) % parts]);
        }
        std::swap(now, next);
    }
    // [stencil]
    return now;
}

TEST(porting_from_hpx, a_stencil_of_futures) {
    constexpr std::size_t k_parts = 8, k_length = 10, k_size = k_parts * k_length;
    partition expected(k_size);
    std::iota(expected.begin(), expected.end(), 0.0);
    std::vector<partition> initial;
    for (std::size_t i = 0; i < k_size; i += k_length) {
        initial.emplace_back(expected.data() + i, expected.data() + i + k_length);
    }
    for (int step = 0; step < 30; ++step) {
        partition next(k_size);
        for (std::size_t i = 0; i < k_size; ++i) {
            next[i] =
                heat(expected[(i + k_size - 1) % k_size], expected[i], expected[(i + 1) % k_size]);
        }
        expected = next;
    }
    partition result;
    for (auto& part : run_stencil(std::move(initial), 30)) {
        result.insert(result.end(), part.get().begin(), part.get().end());
    }
    EXPECT_EQ(result, expected);
}

struct node {
    int value = 0;
    std::vector<node> children;
};

node tree_of_depth(int depth) {
    node root{depth, {}};
    for (int i = 0; i < 3 && depth > 0; ++i) {
        root.children.push_back(tree_of_depth(depth - 1));
    }
    return root;
}

// [task_block]
void visit(const node& n, std::atomic<long>& sum) {
    quern::scope([&](quern::fork_scope& s) {
        for (const node& child : n.children) {
            s.spawn([&] { visit(child, sum); });
        }
        sum += n.value;
    });
}
// [task_block]

TEST(porting_from_hpx, a_task_block) {
    std::atomic<long> sum{0};
    visit(tree_of_depth(5), sum);
    EXPECT_EQ(sum, 5 + 3 * 4 + 9 * 3 + 27 * 2 + 81 * 1);
}

TEST(porting_from_hpx, a_loop_with_a_reduction) {
    std::vector<int> x(1'000);
    std::iota(x.begin(), x.end(), 1);
    // [for_loop]
    quern::parallel_for(0, x.size(), [&](std::size_t i) { x[i] *= 2; });
    const long sum = quern::parallel_reduce(
        0, x.size(), 0L, [&](std::size_t i) { return long(x[i]); }, std::plus<>{});
    // [for_loop]
    EXPECT_EQ(sum, 1'000L * 1'001);
}

TEST(porting_from_hpx, a_channel) {
    constexpr int k_values = 100;
    // [channel]
    quern::channel<int> numbers;
    quern::task_group sender;  // waits for its task, also if the loop below throws
    sender.run([&] {
        const quern::closing at_end(numbers);
        for (int i = 0; i < k_values; ++i) {
            numbers.send(i);
        }
    });
    long sum = 0;
    for (const int n : quern::closing(numbers)) {  // until it is closed and empty
        sum += n;
    }
    sender.wait();
    // [channel]
    EXPECT_EQ(sum, k_values * (k_values - 1L) / 2);
}

TEST(porting_from_hpx, a_channel_whose_receiver_throws) {
    const auto run = [] {
        quern::channel<int> numbers;
        quern::task_group sender;
        sender.run([&] {
            const quern::closing at_end(numbers);
            for (int i = 0;; ++i) {  // until the channel is closed
                numbers.send(i);
                quern::this_task::yield();
            }
        });
        for (const int n : quern::closing(numbers)) {
            if (n == 20) {
                throw std::runtime_error("bad number");
            }
        }
        sender.wait();
    };
    EXPECT_THROW(run(), std::runtime_error);
}

double norm(const std::vector<double>& x) {
    EXPECT_EQ(quern::this_task::get_priority(), quern::priority::high);
    EXPECT_STREQ(quern::this_task::name(), "norm");
    EXPECT_GT(quern::this_task::stack_left(), 1U << 20);
    return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

TEST(porting_from_hpx, priority_stack_and_name) {
    const std::vector<double> x{1, 2, 3};
    // [attributes]
    quern::future<double> f = quern::async(
        {.name = "norm", .urgency = quern::priority::high, .stack = quern::stack_class::large},
        norm, std::cref(x));
    // [attributes]
    EXPECT_EQ(f.get(), 14.0);
}

TEST(porting_from_hpx, a_call_that_blocks) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const int fd = ends[0];
    // [blocking]
    auto reader = quern::async([fd] {
        char buffer[64];
        const ssize_t size = quern::blocking([&] { return ::read(fd, buffer, sizeof buffer); });
        return std::string(buffer, static_cast<std::size_t>(size));
    });
    // [blocking]
    auto writer = quern::async([&] { return ::write(ends[1], "hello", 5); });
    EXPECT_EQ(writer.get(), 5);
    EXPECT_EQ(reader.get(), "hello");
    ::close(ends[0]);
    ::close(ends[1]);
}

std::string log_line() { return std::string(quern::current_pool().name()); }

TEST(porting_from_hpx, pools_of_their_own) {
    // [pools]
    quern::runtime rt({.pools = {{.name = "default"}, {.name = "io", .workers = 1}}});
    quern::future<std::string> line = quern::async(rt.pool("io"), log_line);
    // [pools]
    EXPECT_EQ(line.get(), "io");
    EXPECT_EQ(rt.pool("io").workers(), 1U);
}

}  // namespace
