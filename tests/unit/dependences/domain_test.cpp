// SPDX-License-Identifier: BSL-1.0
// domain: the order that accesses make, views, futures, ownership. Overlaps are in
// regions_test.cpp, errors in errors_test.cpp, children in nesting_test.cpp.
#include <quern/dependences/domain.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using quern::concurrent;
using quern::domain;
using quern::in;
using quern::inout;
using quern::on;
using quern::out;
using quern::sentinel;
using quern_test::scaled;

class domain_test : public quern_test::on_runtime {
protected:
    /// As a task, and as a thread outside: a domain belongs to either.
    template <class F>
    void by_task_and_thread(F&& f) {
        inside([&] {
            domain work;
            f(work);
        });
        domain work(rt.default_pool());
        f(work);
    }
};
QUERN_ON_ALL_POLICIES(domain_test);

// Holds: domain: taskwait() without tasks does not wait.
TEST_P(domain_test, without_tasks_does_not_wait) {
    by_task_and_thread([](domain& work) {
        work.taskwait();
        work.taskwait();
    });
}

// Holds: domain: A task with inout begins when the tasks before it have ended, and sees their
//     effects.
TEST_P(domain_test, inout_makes_a_chain) {
    by_task_and_thread([](domain& work) {
        std::uint64_t value = 1;
        std::uint64_t expected = 1;
        for (std::uint64_t i = 0; i < 1000; ++i) {
            work.spawn(inout(value), [i](std::uint64_t& v) { v = 3 * v + i; });
            expected = 3 * expected + i;
        }
        work.taskwait();
        EXPECT_EQ(value, expected);
    });
}

// Holds: domain: A reader comes after the writer before it, and before the writer after it.
TEST_P(domain_test, readers_are_between_writers) {
    by_task_and_thread([](domain& work) {
        int value = 0;
        std::atomic<int> faults{0};
        for (int round = 1; round <= 100; ++round) {
            work.spawn(out(value), [round](int& v) { v = round; });
            for (int reader = 0; reader < 5; ++reader) {
                work.spawn(in(value), [&faults, round](const int& v) { faults += v != round; });
            }
        }
        work.taskwait();
        EXPECT_EQ(faults, 0);
    });
}

// Holds: domain: Tasks with `in` of the same data may run at the same time.
TEST_P(domain_test, readers_run_at_the_same_time) {
    if (workers() < 2) {
        return;
    }
    by_task_and_thread([](domain& work) {
        int value = 0;
        std::atomic<int> here{0};
        for (int i = 0; i < 2; ++i) {
            work.spawn(in(value), [&here] {
                here.fetch_add(1);
                while (here < 2) {
                    quern::this_task::yield();
                }
            });
        }
        work.taskwait();
        EXPECT_EQ(here, 2);
    });
}

// Holds: domain: Tasks with `concurrent` of the same data may run at the same time; towards all
//     others they are ordered as by inout.
TEST_P(domain_test, concurrent_tasks_are_ordered_towards_others_alone) {
    by_task_and_thread([](domain& work) {
        int value = 0;
        std::atomic<int> here{0};
        std::atomic<int> faults{0};
        work.spawn(out(value), [](int& v) { v = 5; });
        for (int i = 0; i < 3; ++i) {
            work.spawn(concurrent(value), [&](int& v) {
                faults += std::atomic_ref(v) < 5;
                ++std::atomic_ref(v);
                here.fetch_add(1);
                while (here < 3) {
                    quern::this_task::yield();
                }
            });
        }
        work.spawn(in(value), [&](const int& v) { faults += v != 8; });
        work.spawn(in(value), [&](const int& v) { faults += v != 8; });
        work.spawn(concurrent(value), [](int& v) { v = 1; });
        work.taskwait(on(in(value)));
        EXPECT_EQ(value, 1);
        work.taskwait();
        EXPECT_EQ(faults, 0);
    });
}

// Holds: domain: Tasks without a common region are not ordered.
TEST_P(domain_test, tasks_without_a_common_region_are_not_ordered) {
    by_task_and_thread([](domain& work) {
        std::array<int, 4> values{};
        std::atomic<int> here{0};
        for (int& each : values) {
            work.spawn(inout(each), [&here](int& v) {
                v = ++here;
                while (here < 4) {
                    quern::this_task::yield();
                }
            });
        }
        work.spawn([&here] { ++here; });
        work.taskwait();
        EXPECT_EQ(here, 5);
    });
}

// Holds: domain: A sentinel orders tasks as data do, gives no view, and does not overlap with data.
TEST_P(domain_test, a_sentinel_is_an_order_without_data) {
    by_task_and_thread([](domain& work) {
        int phase = 0;
        int other = 0;
        int order = 0;
        std::atomic<bool> is_open{false};
        work.spawn(out(sentinel(phase)), inout(other), [&](int& o) {
            while (!is_open) {
                quern::this_task::yield();
            }
            o = ++order;
        });
        work.spawn(in(sentinel(phase)), [&] { EXPECT_EQ(++order, 2); });
        work.spawn(inout(phase), [&](int& p) {  // not ordered with the sentinel
            p = 1;
            is_open = true;
        });
        work.taskwait();
        EXPECT_EQ(order, 2);
        EXPECT_EQ(other, 1);
    });
}

// Holds: domain: A body gets a view of each access: a reference to an object, const for `in`, a span
//     of a range.
TEST_P(domain_test, gives_the_body_a_view_of_each_access) {
    by_task_and_thread([](domain& work) {
        int one = 1;
        std::vector<double> many(10, 1.0);
        std::array<short, 3> few{1, 2, 3};
        char letters[4] = "abc";
        const std::vector<long> fixed(5, 2);
        work.spawn(inout(one), out(many), in(few), in(letters), in(fixed), out(many.data(), 3),
                   [&](auto& o, auto m, auto& f, auto& l, auto x, auto p) {
                       static_assert(std::is_same_v<decltype(o), int&>);
                       static_assert(std::is_same_v<decltype(m), std::span<double>>);
                       static_assert(std::is_same_v<decltype(f), const std::array<short, 3>&>);
                       static_assert(std::is_same_v<decltype(l), const char(&)[4]>);
                       static_assert(std::is_same_v<decltype(x), std::span<const long>>);
                       static_assert(std::is_same_v<decltype(p), std::span<double>>);
                       EXPECT_EQ(&o, &one);
                       EXPECT_EQ(m.data(), many.data());
                       EXPECT_EQ(m.size(), 10U);
                       EXPECT_EQ(&f, &few);
                       EXPECT_EQ(&l, &letters);
                       EXPECT_EQ(x.size(), 5U);
                       EXPECT_EQ(p.size(), 3U);
                   });
        work.spawn(in(one), [] {});
        work.taskwait();
    });
}

// Holds: domain: async() gives a future of the function's result.
TEST_P(domain_test, gives_futures) {
    by_task_and_thread([](domain& work) {
        int value = 20;
        auto f = work.async(inout(value), [](int& v) { return v += 1; });
        auto g = work.async({.name = "twice"}, in(value), [](const int& v) { return 2 * v; });
        auto h = work.async(in(value), [](const int& v) -> const int& { return v; });
        auto u = work.async(in(value), [](const int& v) { return std::make_unique<int>(v); });
        auto n = work.async([] {});
        EXPECT_EQ(f.get(), 21);
        EXPECT_EQ(g.get(), 42);
        EXPECT_EQ(&h.get(), &value);
        EXPECT_EQ(*u.get(), 21);
        n.get();
        work.taskwait();
    });
}

// Holds: domain: taskwait(on()) returns when the named data may be used; other tasks may still run.
TEST_P(domain_test, waits_for_data) {
    by_task_and_thread([](domain& work) {
        std::atomic<bool> is_open{false};
        int mine = 0;
        int other = 0;
        std::vector<int> many(4, 0);
        work.spawn(out(other), [&](int& o) {
            while (!is_open) {
                quern::this_task::yield();
            }
            o = 1;
        });
        work.spawn(out(mine), [](int& m) { m = 1; });
        work.spawn(in(mine), out(many.data(), 2), [](const int& m, auto s) { s[1] = m + 1; });
        work.taskwait(on(in(mine)));
        EXPECT_EQ(mine, 1);
        work.taskwait(on(mine, many));
        EXPECT_EQ(many[1], 2);
        work.taskwait(on());
        is_open = true;
        work.taskwait();
        EXPECT_EQ(other, 1);
    });
}

// Holds: domain: The destructor waits.
TEST_P(domain_test, waits_at_its_end) {
    inside([] {
        int value = 0;
        {
            domain work;
            for (int i = 0; i < 100; ++i) {
                work.spawn(inout(value), [](int& v) { ++v; });
            }
        }
        EXPECT_EQ(value, 100);
    });
}

// Holds: domain: Of ready tasks those with the larger rank begin first.
TEST_P(domain_test, obeys_ranks) {
    if (workers() != 1) {
        return;
    }
    inside([] {
        domain work;
        int gate = 0;
        std::vector<int> order;
        work.spawn(out(gate), [] {});
        for (const int rank : {0, 3, 1, 2}) {
            work.spawn({.rank = static_cast<std::int16_t>(rank)}, in(gate),
                       [&order, rank] { order.push_back(rank); });
        }
        work.taskwait();
        EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
    });
}

// Holds: domain: A chain may be as long as memory allows.
TEST_P(domain_test, has_long_chains) {
    by_task_and_thread([this](domain& work) {
        const int length = a_million();
        std::int64_t sum = 0;
        for (int i = 0; i < length; ++i) {
            work.spawn(inout(sum), [i](std::int64_t& s) { s += i; });
        }
        work.taskwait();
        EXPECT_EQ(sum, std::int64_t{length} * (length - 1) / 2);
    });
}

// Holds: domain: Many readers and many objects take no memory once they have ended.
TEST_P(domain_test, forgets_what_has_ended) {
    by_task_and_thread([](domain& work) {
        const int n = scaled(100'000, 5'000);
        std::vector<int> values(static_cast<std::size_t>(n), 0);
        const int common = 7;
        for (int i = 0; i < n; ++i) {
            work.spawn(in(common), inout(values[static_cast<std::size_t>(i)]),
                       [](const int& c, int& v) { v += c; });
        }
        work.taskwait();
        EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 7 * n);
    });
}

/// The result of a task is, moved from, a part of the task until that is destroyed.
struct result_in_memory {
    static inline std::atomic<long> s_count{0};

    result_in_memory() noexcept { ++s_count; }
    result_in_memory(const result_in_memory&) noexcept { ++s_count; }
    result_in_memory(result_in_memory&&) noexcept { ++s_count; }
    result_in_memory& operator=(const result_in_memory&) = default;
    ~result_in_memory() { --s_count; }
};

// Holds: domain: Its memory grows with the tasks that have not ended and the data in use, not with
//     the tasks that have read them.
TEST_P(domain_test, forgets_readers_that_have_ended) {
    by_task_and_thread([](domain& work) {
        constexpr std::size_t k_readers = 100;  // of each number
        std::vector<int> numbers(300);
        long most = 0;
        for (std::size_t i = 0; i < numbers.size() * k_readers; ++i) {
            static_cast<void>(
                work.async(in(numbers[i / k_readers]), [] { return result_in_memory(); }));
            if (i % 512 == 511) {
                work.taskwait();
                most = std::max(most, result_in_memory::s_count.load());
            }
        }
        EXPECT_LT(most, 10'000);
    });
}

// Holds: domain: std::logic_error for spawn() and taskwait() by a task or thread that did not make
//     it.
TEST_P(domain_test, refuses_strangers) {
    inside([] {
        domain work;
        int value = 0;
        quern::async([&] {
            EXPECT_THROW(work.spawn(in(value), [] {}), std::logic_error);
            EXPECT_THROW(work.taskwait(), std::logic_error);
            EXPECT_THROW(work.taskwait(on(value)), std::logic_error);
        }).get();
        std::thread([&] { EXPECT_THROW(work.taskwait(), std::logic_error); }).join();
    });
}

// Holds: domain: std::invalid_argument for a null pointer with elements, a negative number of them,
//     and one that is larger than memory.
TEST(domain_arguments, refuse_impossible_ranges) {
    int* const none = nullptr;
    int some[2] = {};
    EXPECT_THROW(in(none, 1), std::invalid_argument);
    EXPECT_THROW(out(some, -1), std::invalid_argument);
    EXPECT_THROW(inout(some, PTRDIFF_MAX), std::invalid_argument);
    EXPECT_NO_THROW(concurrent(none, 0));
}

// Holds: domain: std::invalid_argument for a launch policy other than async, another pool, or a stop
//     token.
TEST_P(domain_test, refuses_attributes_that_it_cannot_have) {
    inside([this] {
        domain work;
        std::stop_source source;
        EXPECT_THROW(work.spawn({.how = quern::launch::sync}, [] {}), std::invalid_argument);
        EXPECT_THROW(work.spawn({.stop = source.get_token()}, [] {}), std::invalid_argument);
        quern::runtime other(quern::runtime_options::with_workers(1));
        EXPECT_THROW(work.spawn({.pool = &other.default_pool().get()}, [] {}),
                     std::invalid_argument);
        work.spawn({.pool = &rt.default_pool().get()}, [] {});
    });
}

}  // namespace
