// SPDX-License-Identifier: BSL-1.0
// Waits that end without what they wait for keep no memory, however often they are repeated: waits
// with a limit, and waits for the first of several futures while another one is ready much later.
// The program's operator new counts the bytes in use; so does the runtime for its blocks.
#include <quern/base/detail/blocks.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/held_locks.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/timed_mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/wait.hpp>
#include <quern/task/when.hpp>
#include <quern/task/when_each.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include <malloc.h>

namespace {

std::atomic<std::size_t> g_in_use{0};  // bytes
std::atomic<std::size_t> g_allocations{0};

void* allocate(std::size_t size) {
    void* const memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    g_in_use += ::malloc_usable_size(memory);
    ++g_allocations;
    return memory;
}

void deallocate(void* memory) noexcept {
    if (memory != nullptr) {
        g_in_use -= ::malloc_usable_size(memory);
        std::free(memory);
    }
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) { return allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { deallocate(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { deallocate(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { deallocate(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { deallocate(memory); }

namespace {

using namespace std::chrono_literals;
using quern::promise;
using std::future_status;

constexpr bool k_sanitized = quern::detail::k_asan || quern::detail::k_tsan;
constexpr int k_uses = k_sanitized ? 10'000 : 100'000;
/// Of waits that last for their time: in tasks, many at once.
constexpr int k_timed_uses = k_sanitized ? 2'000 : 100'000;
constexpr int k_timed_at_once = 250;
constexpr std::size_t k_caches = std::size_t{128} << 10;
/// Long enough that the time has not passed when the wait begins.
constexpr auto k_time = 200us;

std::size_t bytes_in_use() { return g_in_use + quern::detail::read_block_totals().carved; }

class growth : public testing::Test {
protected:
    /// Less than a byte a use, and what caches of blocks may differ by. The first tenth fills them.
    template <class F>
    void expect_none(int uses, F use_once_or_more) {
        use_once_or_more(uses / 10);
        const std::size_t before = bytes_in_use();
        use_once_or_more(uses);
        EXPECT_LT(bytes_in_use(), before + k_caches + static_cast<std::size_t>(uses));
    }

    /// In a task, and on this thread.
    template <class F>
    void expect_none_of_calls(F call) {
        const auto many = [&call](int uses) {
            for (int i = 0; i < uses; ++i) {
                call();
            }
        };
        expect_none(k_uses, [&](int uses) { quern::async(rt, many, uses).get(); });
        expect_none(k_uses, many);
    }

    /// In tasks that wait at once. `wait` has a limit of k_time.
    template <class F>
    void expect_none_of_limits(F wait) {
        expect_none(k_timed_uses, [&](int uses) {
            std::vector<quern::future<void>> all;
            for (int task = 0; task < k_timed_at_once; ++task) {
                all.push_back(quern::async(rt, [&wait, uses] {
                    for (int i = 0; i < uses / k_timed_at_once; ++i) {
                        wait();
                    }
                }));
            }
            for (auto& each : all) {
                each.get();
            }
        });
        expect_none(k_timed_uses / 50, [&wait](int uses) {
            for (int i = 0; i < uses; ++i) {
                wait();
            }
        });
    }

    quern::runtime& usual = quern::runtime::default_instance();
    quern::runtime rt{quern::runtime_options::with_workers(2)};
    promise<int> late;
    quern::shared_future<int> never = late.get_future().share();
};

// Holds: when_any: It keeps nothing for the futures that were not ready.
TEST_F(growth, of_when_any_beside_a_long_lived_future) {
    expect_none_of_calls(
        [this] { EXPECT_EQ(quern::when_any(never, quern::make_ready_future(1)).get().index, 1U); });
    expect_none_of_calls([this] {  // ready after the call
        promise<int> soon;
        auto first = quern::when_any(std::vector{never, soon.get_future().share(), never});
        soon.set_value(1);
        EXPECT_EQ(first.get().index, 1U);
    });
}

// Holds: when_any: When its future is dropped before it is ready, it keeps nothing.
TEST_F(growth, of_when_any_that_is_given_up) {
    expect_none_of_calls(
        [this] { EXPECT_EQ(quern::when_any(never, never).wait_for(0s), future_status::timeout); });
    expect_none_of_limits([this] {
        EXPECT_EQ(quern::when_any(never, never).wait_for(k_time), future_status::timeout);
    });
    late.set_value(1);
}

// Holds: when_some: It keeps nothing for the futures that were not ready.
TEST_F(growth, of_when_some_beside_a_long_lived_future) {
    const auto ready = quern::make_ready_future(1).share();
    expect_none_of_calls([&] {
        EXPECT_EQ(quern::when_some(2, std::vector{ready, never, ready}).get().indices.size(), 2U);
    });
}

// Holds: wait_all: wait_any and wait_some keep no memory for the futures that were not ready.
TEST_F(growth, of_wait_any_and_wait_some_beside_a_long_lived_future) {
    const auto ready = quern::make_ready_future(1);
    expect_none_of_calls([&] { EXPECT_EQ(quern::wait_any(never, ready), 1U); });
    const std::vector both{never, quern::make_ready_future(1).share()};
    expect_none_of_calls([&] { EXPECT_EQ(quern::wait_any(both), 1U); });
    expect_none_of_calls([&] { EXPECT_EQ(quern::wait_some(1, both).size(), 1U); });
}

// Holds: when_each: After an exception of f it keeps nothing for the futures that were not ready.
TEST_F(growth, of_when_each_that_has_failed_beside_a_long_lived_future) {
    const auto ready = quern::make_ready_future(1).share();
    const auto fails = [](const quern::shared_future<int>&) { throw std::runtime_error("each"); };
    expect_none(k_uses / 10, [&](int uses) {  // an exception takes long
        for (int i = 0; i < uses; ++i) {
            EXPECT_THROW(quern::when_each(fails, never, ready, never).get(), std::runtime_error);
        }
    });
}

// Holds: future: A wait that ends by its time keeps no memory.
// Holds: shared_future: The timed waits are...
TEST_F(growth, of_timed_waits_for_a_future) {
    expect_none_of_limits([this] { EXPECT_EQ(never.wait_for(k_time), future_status::timeout); });
    expect_none_of_calls([this] { EXPECT_EQ(never.wait_for(0s), future_status::timeout); });
    late.set_value(1);
    EXPECT_EQ(never.wait_for(1h), future_status::ready);
}

// Holds: future: A wait that ends by a stop request keeps no memory.
// Holds: shared_future: The waits with a stop token are...
TEST_F(growth, of_stopped_waits_for_a_future) {
    const std::stop_source not_yet;
    expect_none_of_limits([&] { EXPECT_FALSE(never.wait_for(not_yet.get_token(), k_time)); });
    expect_none_of_calls([this] {  // stopped while it waits
        std::stop_source stop;
        auto stops = quern::async(rt, [&stop] { stop.request_stop(); });
        EXPECT_FALSE(never.wait(stop.get_token()));
        stops.get();
    });
    late.set_value(1);
    EXPECT_TRUE(never.wait(not_yet.get_token()));
}

// Holds: counting_semaphore: A wait that ends by its time keeps no memory.
// Holds: event: A wait that ends by its time keeps no memory.
// Holds: channel: A wait that ends by its time keeps no memory.
TEST_F(growth, of_timed_waits_for_permits_events_and_values) {
    quern::counting_semaphore<> none(0);
    expect_none_of_limits([&] { EXPECT_FALSE(none.try_acquire_for(k_time)); });
    const quern::event unset;
    expect_none_of_limits([&] { EXPECT_FALSE(unset.wait_for(k_time)); });
    quern::channel<int> empty(1), full(1);
    full.send(1);
    expect_none_of_limits([&] { EXPECT_FALSE(empty.try_receive_for(k_time).has_value()); });
    expect_none_of_limits([&] { EXPECT_FALSE(full.try_send_for(2, k_time)); });
}

// Holds: channel: Cost: two short spin-lock sections; if unbounded, an allocation when there are
//     more values than before.
TEST_F(growth, of_an_unbounded_channel_is_that_of_its_values) {
    quern::channel<int> values;
    const auto pass = [&values](int count) {
        for (int i = 0; i < count; ++i) {
            values.send(i);
        }
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(values.receive(), i);
        }
    };
    pass(1'000);
    const std::size_t before = g_allocations;
    for (int i = 0; i < 1'000; ++i) {
        pass(i);
    }
    EXPECT_LT(g_allocations, before + 100);       // those of other threads
    expect_none(10 * k_uses, [&pass](int uses) {  // more than are kept
        for (int i = 0; i < 10; ++i) {
            pass(uses / 10);
        }
    });
}

// Holds: condition_variable: A wait that ends by its time keeps no memory.
// Holds: condition_variable_any: A wait that ends by its time keeps no memory.
TEST_F(growth, of_timed_waits_for_notices) {
    quern::mutex m;
    quern::condition_variable notices;
    expect_none_of_limits([&] {
        std::unique_lock lock(m);
        notices.wait_for(lock, k_time);
    });
    quern::condition_variable_any any;
    std::stop_source stop;
    expect_none_of_limits([&] {
        std::unique_lock lock(m);
        EXPECT_FALSE(any.wait_for(lock, stop.get_token(), k_time, [] { return false; }));
    });
}

// Holds: timed_mutex: A wait that ends by its time keeps no memory.
TEST_F(growth, of_timed_waits_for_a_lock) {
    quern::timed_mutex held;
    quern::event is_held, done;
    auto holder = quern::async(rt, [&] {
        const std::scoped_lock lock(held);
        const quern::ignore_held_locks on_purpose;
        is_held.set();
        done.wait();
    });
    is_held.wait();
    expect_none_of_limits([&] {
        const bool got = held.try_lock_for(k_time);
        EXPECT_FALSE(got);
    });
    done.set();
    holder.get();
}

}  // namespace
