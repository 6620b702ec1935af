// SPDX-License-Identifier: BSL-1.0
// Functions documented to throw std::bad_alloc do so wherever an allocation fails, and leave
// nothing half done. The program's operator new, and the shared pool of blocks, fail on the calling
// thread after a given number of allocations.
#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/guard.hpp>
#include <quern/sync/trigger.hpp>
#include <quern/task/async.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/ready_at.hpp>
#include <quern/task/split_future.hpp>
#include <quern/task/task_local.hpp>
#include <quern/task/thread.hpp>
#include <quern/task/when.hpp>
#include <quern/task/when_each.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <future>
#include <new>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

constexpr int k_all = -1;
thread_local int t_left = k_all;  // allocations that this thread may still make

std::atomic<bool> g_full{false};  // fails on all threads

bool may_allocate() noexcept {
    if (g_full.load(std::memory_order_relaxed)) {
        return false;
    }
    const bool may = t_left != 0;
    t_left -= may && t_left != k_all ? 1 : 0;
    return may;
}

void* allocate(std::size_t size) {
    void* const memory = may_allocate() ? std::malloc(size) : nullptr;
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) { return allocate(size == 0 ? 1 : size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return allocate(size == 0 ? 1 : size); }
// The library's own, which calls the one above, is disabled under the address sanitizer, which has
// one too.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using quern::future;
using quern::promise;
using quern::shared_future;

/// Calls use(make()), with ever more allowed allocations in `use` until they are enough. Returns
/// how often it threw std::bad_alloc before.
template <class Make, class Use>
int refusals(Make&& make, Use&& use) {
    for (int allowed = 0;; ++allowed) {
        auto made = make();
        t_left = allowed;
        try {
            use(made);
            t_left = k_all;
            return allowed;
        } catch (const std::bad_alloc&) {
            t_left = k_all;
        }
    }
}

template <class Use>
int refusals(Use&& use) {
    return refusals([] { return 0; }, [&use](int) { use(); });
}

class out_of_memory : public testing::Test {
protected:
    out_of_memory() {
        quern::async([] {}).get();  // the default runtime has begun
        quern::detail::set_block_permission(may_allocate);
    }

    ~out_of_memory() override {
        quern::detail::set_block_permission(nullptr);
        t_left = k_all;
    }
};

// Holds: promise: Construction throws std::bad_alloc.
TEST_F(out_of_memory, is_thrown_by_promises_and_ready_futures) {
    EXPECT_GE(refusals([] { const promise<int> p; }), 1);
    EXPECT_GE(refusals([] { (void)quern::make_ready_future(1); }), 1);
}

// Holds: promise: To give up a promise needs no memory.
TEST_F(out_of_memory, is_not_needed_to_give_up_a_promise) {
    std::optional<promise<int>> p{std::in_place};
    auto f = p->get_future();
    EXPECT_EQ(refusals([&p] { p.reset(); }), 0);
    EXPECT_THROW(f.get(), std::future_error);
}

// Holds: async: Throws std::bad_alloc; nothing has been started then.
// Holds: post: Throws std::bad_alloc; nothing has been started then.
TEST_F(out_of_memory, is_thrown_by_async_and_post) {
    std::atomic<int> runs{0};
    future<void> f;
    EXPECT_GE(refusals([&] { f = quern::async([&runs] { runs.fetch_add(1); }); }), 1);
    f.get();
    EXPECT_EQ(runs.load(), 1);
    promise<void> posted;
    auto end = posted.get_future();
    EXPECT_GE(refusals([&] {
                  quern::post([&] {
                      runs.fetch_add(1);
                      posted.set_value();
                  });
              }),
              1);
    end.get();
    EXPECT_EQ(runs.load(), 2);
}

// Holds: then: Throws std::bad_alloc.
// Holds: dataflow: Throws std::bad_alloc.
TEST_F(out_of_memory, is_thrown_by_then_and_dataflow) {
    promise<int> p;
    const shared_future<int> source = p.get_future();
    std::atomic<int> runs{0};
    const auto count = [&runs](const shared_future<int>& f) {
        runs.fetch_add(1);
        return f.get();
    };
    future<int> next, flow;
    EXPECT_GE(refusals([&] { next = source.then(count); }), 1);
    EXPECT_GE(refusals([&] { flow = quern::dataflow(count, source); }), 1);
    EXPECT_EQ(runs.load(), 0);
    p.set_value(4);
    EXPECT_EQ(next.get() + flow.get(), 8);
    EXPECT_EQ(runs.load(), 2);
}

// Holds: when_each: Throws std::bad_alloc.
// Holds: split_future: Throws std::bad_alloc.
TEST_F(out_of_memory, is_thrown_by_the_combinators) {
    promise<int> p;
    const shared_future<int> source = p.get_future();
    std::atomic<int> calls{0};
    future<std::tuple<shared_future<int>, shared_future<int>>> all;
    future<void> each;
    EXPECT_GE(refusals([&] { all = quern::when_all(source, source); }), 1);
    EXPECT_GE(refusals([&] { (void)quern::when_any(source, source); }), 1);
    EXPECT_GE(refusals([&] { (void)quern::when_some(1, source, source); }), 1);
    EXPECT_GE(refusals([&] {
                  each = quern::when_each([&calls](const auto&) { calls.fetch_add(1); }, source,
                                          source);
              }),
              1);
    const auto pair = [] { return quern::make_ready_future(std::pair(1, 2)); };
    EXPECT_GE(refusals(pair, [](auto& whole) { (void)quern::split_future(std::move(whole)); }), 1);
    p.set_value(1);
    EXPECT_EQ(std::get<0>(all.get()).get(), 1);
    each.get();
    EXPECT_EQ(calls.load(), 2);
}

quern::task<int> twice(int x) { co_return 2 * x; }

// Holds: start: Throws std::bad_alloc.
TEST_F(out_of_memory, is_thrown_by_start) {
    future<int> f;
    EXPECT_GE(refusals([] { return twice(21); },
                       [&f](auto& coroutine) { f = quern::start(std::move(coroutine)); }),
              1);
    EXPECT_EQ(f.get(), 42);
    EXPECT_GE(refusals([] { (void)twice(1); }), 1);  // of the frame
}

// Holds: channel: Construction with a capacity, and send() without, throw std::bad_alloc; nothing
//     has been sent then.
TEST_F(out_of_memory, is_thrown_by_channels) {
    EXPECT_GE(refusals([] { const quern::channel<int> bounded(4); }), 1);
    quern::channel<int> values;
    EXPECT_GE(refusals([&values] { values.send(1); }), 1);
    EXPECT_GE(refusals([&values] { EXPECT_TRUE(values.try_send(2)); }), 1);
    EXPECT_EQ(values.try_receive(), 1);
    EXPECT_EQ(values.try_receive(), 2);
    EXPECT_EQ(values.try_receive(), std::nullopt);
}

// Holds: trigger: get_future() throws std::bad_alloc.
// Holds: guard: Throws std::bad_alloc, or what copying f throws; then it has taken no place, and
//     the functions after it are run.
TEST_F(out_of_memory, is_thrown_by_triggers_and_guards) {
    quern::trigger t;
    shared_future<void> end;
    EXPECT_GE(refusals([&] { end = t.get_future(); }), 1);
    t.set();
    EXPECT_TRUE(end.is_ready());
    quern::guard a, b;
    std::vector<int> order;
    order.reserve(4);
    future<void> first, second, third, last;
    EXPECT_GE(refusals([&] { first = quern::run_guarded(a, [&order] { order.push_back(1); }); }),
              1);
    const quern::guard_set both{&a, &b};
    EXPECT_GE(
        refusals([&] { second = quern::run_guarded(both, [&order] { order.push_back(2); }); }), 1);
    quern::event go;
    third = quern::run_guarded(a, [&] {
        go.wait();
        order.push_back(3);
    });
    EXPECT_GE(refusals([&] { last = quern::run_guarded(a, [&order] { order.push_back(4); }); }), 1)
        << "one that is refused must not wait for those before";
    go.set();
    first.get();
    second.get();
    third.get();
    last.get();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

// Holds: future: wait_for() and wait_until() throw std::bad_alloc when they have to wait.
TEST_F(out_of_memory, is_thrown_by_timed_waits) {
    promise<int> p;
    const future<int> f = p.get_future();
    EXPECT_GE(refusals([&f] {
                  EXPECT_EQ(f.wait_for(std::chrono::milliseconds(1)), std::future_status::timeout);
              }),
              1);
    p.set_value(1);
    EXPECT_EQ(refusals([&f] { f.wait(); }), 0);
}

// Holds: make_ready_future_at: Throws std::bad_alloc.
TEST_F(out_of_memory, is_thrown_by_timed_futures) {
    future<int> f;
    EXPECT_GE(
        refusals([&f] { f = quern::make_ready_future_after(std::chrono::milliseconds(1), 7); }),
        2);  // of the state, and of the value's
    EXPECT_EQ(f.get(), 7);
}

// Holds: thread: The constructor throws std::bad_alloc; nothing has been started then.
TEST_F(out_of_memory, is_thrown_by_threads) {
    std::atomic<int> runs{0};
    quern::thread t;
    EXPECT_GE(refusals([&] { t = quern::thread([&runs] { runs.fetch_add(1); }); }), 1);
    t.join();
    EXPECT_EQ(runs.load(), 1);
}

// Holds: runtime: To give stacks back, and to end, needs no memory.
TEST_F(out_of_memory, is_not_needed_to_give_stacks_back) {
    constexpr int k_tasks = 1500;  // more stacks than one slab has
    promise<void> gate;
    const shared_future<void> opened = gate.get_future();
    std::atomic<int> ended{0};
    {
        const quern::runtime rt(quern::runtime_options::with_workers(2));
        for (int i = 0; i < k_tasks; ++i) {
            quern::post({.pool = &rt.default_pool().get()}, [&] {
                opened.wait();
                ended.fetch_add(1);
            });
        }
        rt.default_pool().get().wait_until_quiet();
        g_full.store(true);
        gate.set_value();
    }
    g_full.store(false);
    EXPECT_EQ(ended.load(), k_tasks);
}

// Holds: blocking_region: std::bad_alloc is not thrown while the pool has spare threads.
TEST_F(out_of_memory, is_not_thrown_by_blocking_regions_while_there_are_spare_threads) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    std::atomic<bool> is_wanted{false};
    std::atomic<bool> was_refused{false};
    auto first = quern::async(rt, [&] {
        const quern::blocking_region here;
        while (!is_wanted.load()) {
            std::this_thread::yield();
        }
    });
    auto second = quern::async(rt, [&] {
        g_full.store(true);
        is_wanted.store(true);
        try {
            const quern::blocking_region here;
        } catch (const std::bad_alloc&) {
            was_refused.store(true);
        }
        g_full.store(false);
    });
    first.get();
    second.get();
    EXPECT_FALSE(was_refused.load());
}

// Holds: task_local: The first use throws std::bad_alloc; then there is no value.
TEST_F(out_of_memory, is_thrown_by_task_locals) {
    static quern::task_local<int> local(7);
    EXPECT_GE(refusals([] { EXPECT_EQ(*local, 7); }), 1);
    EXPECT_TRUE(local.has_value());
}

}  // namespace
