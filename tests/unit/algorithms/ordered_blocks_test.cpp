// SPDX-License-Identifier: BSL-1.0
// Algorithms whose output place depends on all elements before: they share the work on any number
// of workers, whatever a single call of the program's function takes.
#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/partition.hpp>
#include <quern/algorithms/remove.hpp>
#include <quern/algorithms/scan.hpp>
#include <quern/algorithms/set_operations.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using ints = std::vector<int>;
using quern::detail::block_size;

ints first_numbers(std::size_t n) {
    ints x(n);
    std::iota(x.begin(), x.end(), 0);
    return x;
}

/// Runs blocks of the current size that take no time.
std::size_t after_fast_blocks(block_size& size, int blocks) {
    for (int i = 0; i < blocks; ++i) {
        size.run(size.get(), [] {});
    }
    return size.get();
}

TEST(size_of_blocks, grows_again_after_a_slow_call) {
    block_size size(0, 1);
    size.run(1, [] { std::this_thread::sleep_for(1ms); });
    EXPECT_EQ(size.get(), 1U);
    EXPECT_FALSE(size.is_growing());
    // Many more than needed: on a busy machine some of them are not fast.
    EXPECT_EQ(after_fast_blocks(size, 1000), quern::detail::k_longest_block);
    size.run(size.get(), [] { std::this_thread::sleep_for(5ms); });
    EXPECT_LE(size.get(), 8U);
    EXPECT_EQ(after_fast_blocks(size, 1000), quern::detail::k_longest_block);
}

TEST(size_of_blocks, that_is_given_stays) {
    block_size size(7, 1);
    size.keep_above(100);
    size.run(7, [] { std::this_thread::sleep_for(1ms); });
    EXPECT_EQ(after_fast_blocks(size, 100), 7U);
}

TEST(size_of_blocks, is_settled_by_cheap_elements_too) {
    block_size size(0, 1);
    after_fast_blocks(size, 1000);
    EXPECT_FALSE(size.is_growing());
}

/// Callers of a program's function wait until so many of them are inside together, or a while.
class meetings {
public:
    explicit meetings(int callers) : m_callers(callers) {}

    void attend() {
        std::unique_lock lock(m_lock);
        if (m_missed > k_most_missed || m_held > k_most_held) {
            return;
        }
        const int number = m_held;
        if (++m_inside == m_callers) {
            m_inside = 0;
            ++m_held;
            m_is_held.notify_all();
        } else if (!m_is_held.wait_for(lock, 50ms, [&] { return m_held != number; })) {
            --m_inside;
            ++m_missed;
        }
    }
    // When all calls have ended.
    int held() const { return m_held; }
    int missed() const { return m_missed; }

private:
    static constexpr int k_most_missed = 2000;  // 14 s: none come
    static constexpr int k_most_held = 200;
    const int m_callers;
    std::mutex m_lock;
    std::condition_variable m_is_held;
    int m_inside = 0;
    int m_held = 0;
    int m_missed = 0;
};

/// The first half of the elements is over at once, so that workers find nothing to do for moments.
/// In the second half all workers have to come, again and again. Where a window ends there are
/// fewer blocks than workers, so those that are inside then miss the others.
TEST(ordered_blocks, workers_that_found_nothing_come_back) {
    constexpr int k_workers = 8;
    const quern::runtime rt(quern::runtime_options::with_workers(k_workers));
    const ints x = first_numbers(40'000);
    const auto in_second_half = [](int e) { return e >= 20'000; };
    quern::async(rt, [&] {
        ints out(x.size());
        meetings copies(k_workers);
        const auto end = quern::copy_if(quern::par, x, out.begin(), [&](int e) {
            if (in_second_half(e)) {
                copies.attend();
            }
            return e % 2 == 0;
        });
        EXPECT_EQ(end - out.begin(), 20'000);
        EXPECT_GE(copies.held(), 100) << copies.missed() << " missed";
        meetings sums(k_workers);
        quern::inclusive_scan(quern::par, x.begin(), x.end(), out.begin(), [&](int a, int b) {
            if (in_second_half(b)) {
                sums.attend();
            }
            return std::max(a, b);
        });
        EXPECT_EQ(out, x);
        EXPECT_GE(sums.held(), 100) << sums.missed() << " missed";
    }).get();
}

class ordered_blocks_on : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(ordered_blocks_on);

/// Slow calls at a few places: the first one, one in the middle, one near the end.
bool is_slow_at(std::size_t i, std::size_t n) { return i == 0 || i == n / 2 || i == n - 2; }

TEST_P(ordered_blocks_on, slow_calls_change_no_result) {
    inside([] {
        const std::size_t n = quern_test::scaled<std::size_t>(400'003, 100'003);
        const ints x = first_numbers(n);
        const auto work = [n](int e) {
            if (is_slow_at(static_cast<std::size_t>(e), n)) {
                std::this_thread::sleep_for(1ms);
            }
            return e % 3 != 0;
        };
        ints expected;
        std::copy_if(x.begin(), x.end(), std::back_inserter(expected),
                     [](int e) { return e % 3 != 0; });
        ints out(n, -1);
        out.erase(quern::copy_if(quern::par, x, out.begin(), work), out.end());
        EXPECT_EQ(out, expected);

        ints in_place = x;
        in_place.erase(quern::remove_if(quern::par, in_place.begin(), in_place.end(),
                                        [&](int e) { return !work(e); }),
                       in_place.end());
        EXPECT_EQ(in_place, expected);

        out.assign(n, -1);
        ints others(n, -1);
        const auto ends = quern::partition_copy(quern::par, x.begin(), x.end(), out.begin(),
                                                others.begin(), work);
        out.erase(ends.first, out.end());
        others.erase(ends.second, others.end());
        EXPECT_EQ(out, expected);
        EXPECT_EQ(others.size(), n - expected.size());
        EXPECT_TRUE(std::all_of(others.begin(), others.end(), [](int e) { return e % 3 == 0; }));
        EXPECT_TRUE(std::is_sorted(others.begin(), others.end()));
    });
}

/// Whether the first element of a block is removed depends on the one before it.
TEST_P(ordered_blocks_on, unique_compares_each_element_with_the_one_before_it_once) {
    inside([] {
        const std::size_t n = quern_test::scaled<std::size_t>(300'003, 60'003);
        for (const int length : {1, 2, 3, 1000, 1'000'000}) {
            ints x(n);
            for (std::size_t i = 0; i < n; ++i) {
                x[i] = static_cast<int>(i) / length;
            }
            ints expected = x;
            expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
            std::atomic<std::size_t> calls{0};
            x.erase(quern::unique(quern::par, x.begin(), x.end(),
                                  [&](int a, int b) {
                                      calls.fetch_add(1, std::memory_order_relaxed);
                                      return a == b;
                                  }),
                    x.end());
            EXPECT_EQ(x, expected);
            EXPECT_EQ(calls.load(), n - 1);
        }
    });
}

TEST_P(ordered_blocks_on, every_share_of_kept_elements_ends_up_in_its_place) {
    inside([] {
        const std::size_t n = quern_test::scaled<std::size_t>(300'003, 60'003);
        const ints x = first_numbers(n);
        for (const int share : {0, 1, 50, 99, 100}) {
            const auto is_kept = [share](int e) { return e * 37 % 100 < share; };
            std::atomic<std::size_t> calls{0};
            ints in_place = x;
            in_place.erase(quern::remove_if(quern::par, in_place.begin(), in_place.end(),
                                            [&](int e) {
                                                calls.fetch_add(1, std::memory_order_relaxed);
                                                return !is_kept(e);
                                            }),
                           in_place.end());
            ints expected;
            std::copy_if(x.begin(), x.end(), std::back_inserter(expected), is_kept);
            EXPECT_EQ(in_place, expected);
            EXPECT_EQ(calls.load(), n);
        }
    });
}

TEST_P(ordered_blocks_on, a_scan_of_texts_keeps_their_order) {
    inside([] {
        std::vector<std::string> x(2000);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = std::string(1, static_cast<char>('a' + i % 26));
        }
        std::vector<std::string> expected(x.size());
        std::inclusive_scan(x.begin(), x.end(), expected.begin(), std::plus<>());
        std::vector<std::string> out(x.size());
        quern::inclusive_scan(quern::par, x.begin(), x.end(), out.begin(), std::plus<>());
        EXPECT_EQ(out, expected);
        quern::inclusive_scan(quern::par.with(quern::grain::fixed(3)), x.begin(), x.end(),
                              out.begin(), std::plus<>());
        EXPECT_EQ(out, expected);
    });
}

TEST_P(ordered_blocks_on, given_sizes_of_blocks_work) {
    inside([] {
        const ints x = first_numbers(10'007);
        for (const std::size_t size : {1UL, 63UL, 64UL, 1000UL, ~0UL}) {
            ints out(x.size(), -1);
            const auto end = quern::copy_if(quern::par.with(quern::grain::fixed(size)), x,
                                            out.begin(), [](int e) { return e % 7 != 0; });
            ints expected;
            std::copy_if(x.begin(), x.end(), std::back_inserter(expected),
                         [](int e) { return e % 7 != 0; });
            out.erase(end, out.end());
            EXPECT_EQ(out, expected);
        }
    });
}

TEST_P(ordered_blocks_on, long_rows_of_equal_elements_do_not_need_a_long_buffer) {
    inside([] {
        const std::size_t n = quern_test::scaled<std::size_t>(300'000, 60'000);
        for (const int length : {1, 100'000, 1'000'000}) {
            ints a(n), b(n);
            for (std::size_t i = 0; i < n; ++i) {
                a[i] = static_cast<int>(i) / length;
                b[i] = static_cast<int>(i) / length * 2;
            }
            ints expected;
            std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
            ints out(2 * n, -1);
            out.erase(quern::set_union(quern::par, a, b, out.begin()), out.end());
            EXPECT_EQ(out, expected);
        }
    });
}

TEST_P(ordered_blocks_on, an_exception_of_any_element_is_thrown) {
    inside([] {
        const ints x = first_numbers(50'000);
        for (const int bad : {0, 1, 25'000, 49'999}) {
            const auto is_kept = [bad](int e) {
                if (e == bad) {
                    throw std::runtime_error("bad");
                }
                return true;
            };
            ints out(x.size());
            EXPECT_THROW(quern::copy_if(quern::par, x, out.begin(), is_kept), std::runtime_error);
            EXPECT_THROW(quern::inclusive_scan(
                             quern::par, x.begin(), x.end(), out.begin(),
                             [&](int a, int b) { return is_kept(b) ? a : b; }, is_kept(-1) ? 0 : 1),
                         std::runtime_error);
        }
    });
}

}  // namespace
