// SPDX-License-Identifier: BSL-1.0
// A million tasks of which one in a hundred throws, through every construct that passes on
// exceptions. Each exception has a number, and each number must reach one observer or the handler,
// once.
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/when.hpp>
#include <quern/task/when_each.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

namespace {

using quern::detail::rng;

constexpr std::size_t k_tasks = quern_test::scaled(1'000'000U, 50'000U);
constexpr std::uint32_t k_one_in = 100;

/// Counts how often each exception has arrived.
class ledger {
public:
    std::size_t next() noexcept { return m_thrown.fetch_add(1, std::memory_order_relaxed); }
    void arrived(std::size_t number, bool at_handler) noexcept {
        m_marks[number].fetch_add(1, std::memory_order_relaxed);
        (at_handler ? m_handled : m_observed).fetch_add(1, std::memory_order_relaxed);
    }
    std::size_t thrown() const noexcept { return m_thrown.load(); }
    std::size_t observed() const noexcept { return m_observed.load(); }
    std::size_t handled() const noexcept { return m_handled.load(); }
    bool each_once() const noexcept {
        return std::all_of(m_marks.begin(), m_marks.begin() + static_cast<long>(thrown()),
                           [](const auto& mark) { return mark.load() == 1; });
    }

private:
    std::vector<std::atomic<unsigned char>> m_marks =
        std::vector<std::atomic<unsigned char>>(k_tasks);
    std::atomic<std::size_t> m_thrown{0}, m_observed{0}, m_handled{0};
};

std::unique_ptr<ledger> g_ledger;

struct numbered : std::exception {
    explicit numbered(std::size_t n) noexcept : number(n) {}
    std::size_t number;
};

void note(std::exception_ptr error, quern::exception_origin) noexcept {
    try {
        std::rethrow_exception(std::move(error));
    } catch (const numbered& e) {
        g_ledger->arrived(e.number, true);
    }  // another one: a bug of the runtime, which ends the test
}

template <class F>
void observe(F&& f) {
    try {
        f();
    } catch (const numbered& e) {
        g_ledger->arrived(e.number, false);
    }
}

/// The body of every task: at random it takes longer, waits or throws.
int body(std::uint64_t seed) {
    rng random(seed);
    random.next();
    if (random.below(64) == 0) {
        quern_test::let_others_run();
    }
    if (random.below(k_one_in) == 0) {
        throw numbered(g_ledger->next());
    }
    return 1;
}

int tree(int depth, std::uint64_t seed) {
    if (depth == 0) {
        return body(seed);
    }
    const auto [f, g] = quern::fork_join([=] { return tree(depth - 1, 2 * seed); },
                                         [=] { return tree(depth - 1, 2 * seed + 1); });
    return f + g;
}

quern::task<int> coroutine(quern::future<int> input, std::uint64_t seed) {
    co_return co_await input + body(seed);
}

/// One way to run some tasks. Returns their number.
using way = std::size_t (*)(rng& random);

std::size_t in_group(rng& random) {
    const std::size_t n = 1 + random.below(100);
    quern::task_group group;
    for (std::size_t i = 0; i < n; ++i) {
        group.run([seed = random.next()] { body(seed); });
    }
    if (random.below(4) != 0) {  // else the destructor waits
        observe([&] { group.wait(); });
    }
    return n;
}

std::size_t in_scope(rng& random) {
    const std::size_t n = 1 + random.below(100);
    observe([&] {
        quern::scope([&](quern::fork_scope& s) {
            for (std::size_t i = 0; i < n; ++i) {
                s.spawn([seed = random.next()] { body(seed); });
            }
            body(random.next());
        });
    });
    return n + 1;
}

std::size_t in_loop(rng& random) {
    const std::size_t n = 1 + random.below(100);
    const std::uint64_t seed = random.next();
    const auto how = quern::grain::fixed(1 + random.below(4));
    observe([&] { quern::parallel_for(std::size_t{0}, n, how, [&](auto i) { body(seed + i); }); });
    observe([&] {
        quern::parallel_reduce(
            std::size_t{0}, n, how, 0, [&](auto i) { return body(seed - i); }, std::plus<>());
    });
    return 2 * n;
}

std::size_t in_tree(rng& random) {
    constexpr int k_depth = 6;
    observe([&] { tree(k_depth, random.next()); });
    return std::size_t{1} << k_depth;
}

std::size_t in_posts(rng& random) {
    constexpr std::size_t k_posts = 20;
    for (std::size_t i = 0; i < k_posts; ++i) {
        quern::post([seed = random.next()] { body(seed); });
    }
    return k_posts;
}

/// A future is queried, shared, passed on, joined with another one, or dropped.
std::size_t with_a_future(rng& random) {
    auto f = quern::async(body, random.next());
    auto g = quern::async(body, random.next());
    const auto add = [seed = random.next()](int a, int b) { return a + b + body(seed); };
    switch (random.below(8)) {
        case 0:
            return 2;
        case 1:
            observe([&] { f.get(); });
            observe([&] { g.get(); });
            return 2;
        case 2: {
            const auto shared = f.share();
            const auto copy = shared;
            observe([&] { copy.get(); });
            return 2;
        }
        case 3:
            observe([&] {
                std::move(f)
                    .then([](auto ready) { return ready.get(); })
                    .then(quern::launch::sync, [](auto ready) { return ready.get(); })
                    .get();
            });
            return 4;
        case 4:
            std::move(f).then([](auto) {}).wait();  // ignores the result
            return 3;
        case 5:
            observe(
                [&] { quern::dataflow(quern::unwrapping(add), std::move(f), std::move(g)).get(); });
            return 3;
        case 6:
            observe([&] { quern::start(coroutine(std::move(f), random.next())).get(); });
            return 3;
        default: {
            auto any = quern::when_any(std::move(f), std::move(g)).get();
            observe([&] { std::get<0>(any.futures).get(); });
            return 2;
        }
    }
}

std::size_t with_futures(rng& random) {
    std::size_t tasks = 0;
    for (int i = 0; i < 20; ++i) {
        tasks += with_a_future(random);
    }
    std::vector<quern::future<int>> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(quern::async(body, random.next()));
    }
    const auto visit = [](auto ready) { ready.get(); };  // the first error ends the visits
    observe([&] { quern::when_each(visit, std::move(many)).get(); });
    return tasks + 20;
}

class exceptions : public testing::TestWithParam<quern_test::setting> {};
QUERN_ON_ALL_POLICIES(exceptions);

// Holds: exception handler: Each exception reaches one observer or the handler, whatever is thrown
//     where.
TEST_P(exceptions, reach_one_observer_or_the_handler) {
    constexpr std::array<way, 6> k_ways{in_group, in_scope, in_loop,
                                        in_tree,  in_posts, with_futures};
    constexpr std::uint64_t k_drivers = 4;
    g_ledger = std::make_unique<ledger>();
    const auto before = quern::set_exception_handler(note);
    std::atomic<std::size_t> tasks{0};
    {
        quern::runtime rt(
            quern::runtime_options::with_workers(GetParam().workers, GetParam().policy));
        const auto drive = [&](std::uint64_t number) {
            rng random = quern_test::random_for(number);
            while (tasks.load() < k_tasks) {
                tasks += k_ways[random.below(k_ways.size())](random);
            }
        };
        std::vector<quern::future<void>> drivers;
        for (std::uint64_t i = 0; i < k_drivers; ++i) {
            drivers.push_back(quern::async(rt, drive, i));
        }
        for (auto& d : drivers) {
            d.get();
        }
    }  // all posted tasks have ended now, and all dropped futures
    quern::set_exception_handler(before);
    std::printf("[ stress   ] %zu tasks, %zu exceptions: %zu observed, %zu handled\n", tasks.load(),
                g_ledger->thrown(), g_ledger->observed(), g_ledger->handled());
    EXPECT_GT(g_ledger->observed(), 0U);
    EXPECT_GT(g_ledger->handled(), 0U);
    EXPECT_EQ(g_ledger->observed() + g_ledger->handled(), g_ledger->thrown());
    EXPECT_TRUE(g_ledger->each_once());
}

}  // namespace
