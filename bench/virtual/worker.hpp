// SPDX-License-Identifier: BSL-1.0
// A virtual worker: the scheduler's protocol templates on virtual_time::atomics, and around them
// the decisions of steal.cpp, take.cpp, parking.cpp and context.cpp, repeated by hand: these are
// not yet types of their own. Each function has the name of the one that it repeats. Leaves out
// what a pool without priorities, hints, timers, pollers and suspended tasks never does.
#pragma once

#include "atomic.hpp"

#include <quern/base/detail/rng.hpp>
#include <quern/scheduler/detail/completion.hpp>
#include <quern/scheduler/detail/fork_deque.hpp>
#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/detail/ready_deque.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace virtual_time {

/// What an experiment changes. The defaults are what the scheduler does.
struct rules {
    bool asks_one = false;               ///< a thief asks one victim a round instead of all
    picoseconds ask_least = 5'000'000;   ///< as k_request_ns in steal.cpp
    picoseconds ask_most = 200'000'000;  ///< as k_request_limit_ns
    picoseconds coarse = 500'000;        ///< as k_coarse_ns in context.cpp
    bool times_every_push = false;       ///< also one that is slow because a thief has asked
    bool asks_at_once = false;           ///< no least interval before a thief's first theft
    picoseconds spin = 50'000'000;       ///< as the default of spin-us
};

/// A forked child. One cache line; a block of the real one may lie on two.
struct alignas(quern::detail::k_cache_line) entry {
    plain<std::uint64_t> closure{0};
    quern::detail::completion<atomics, int> joined;
};

struct ready_item {
    atomic<std::uint32_t> position{0};
};

class worker;

/// A context: the fork deque and its slots.
struct slots_of_stack {
    /// (30 KiB - sizeof(context)) / 8, less the spare slot.
    static constexpr std::size_t k_slots = 3766;

    alignas(quern::detail::k_cache_line) std::array<plain<entry*>, k_slots + 1> slots;
};

class stack : private slots_of_stack, public quern::detail::fork_deque<atomics, entry> {
public:
    explicit stack(worker& host) : fork_deque(slots.data(), slots.data() + k_slots), m_host(host) {
        force_slow_path();
    }
    slot* first() noexcept { return slots.data(); }

    void push_trapped() noexcept;
    void offer_if_wanted() noexcept {
        if (wanted() && has_private()) {
            answer_request();
        }
    }
    /// False: a thief has run the entry.
    bool join(slot* place) noexcept;

private:
    void answer_request() noexcept;

    static constexpr picoseconds k_not_timed = ~picoseconds{0};

    worker& m_host;
    picoseconds m_last_slow_path = 0;
    std::uint32_t m_eager_pushes = 0;
};

struct pool {
    pool(unsigned workers, const rules& r, std::uint64_t seed);
    bool wake_one(std::size_t near) noexcept;

    const rules how;
    alignas(quern::detail::k_cache_line) quern::detail::idle_gate<atomics> gate;
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> injected{0};
    std::vector<std::unique_ptr<worker>> workers;
};

class alignas(quern::detail::k_cache_line) worker {
public:
    struct figures {
        std::uint64_t stolen = 0;
        std::uint64_t answers = 0;  ///< requests that its stack answered
        std::uint64_t parks = 0;
        std::uint64_t late_joins = 0;  ///< joins that waited so long that the real one suspends
    };

    worker(pool& home, std::size_t rank, std::uint64_t seed)
        : running(*this), m_pool(home), m_rank(rank), m_random(seed) {}

    /// Steals and runs forked children for ever.
    [[noreturn]] void run() noexcept;
    void begin_item() noexcept { current.store(&running, std::memory_order_release); }
    void notify_public_work() noexcept;

    pool& home() noexcept { return m_pool; }
    std::size_t rank() const noexcept { return m_rank; }

    // Lines as in the real worker: those that thieves read do not hold the owner's own words.
    quern::detail::ready_deque<atomics, ready_item> deque;
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> inbox{0};
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> hinted{0};
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> suspended{0};
    alignas(quern::detail::k_cache_line) quern::detail::sleeper<atomics> parker;
    alignas(quern::detail::k_cache_line) atomic<stack*> current{nullptr};
    stack running;
    alignas(quern::detail::k_cache_line) figures counted;

private:
    entry* take_ready() noexcept;
    entry* search_and_park() noexcept;
    entry* search() noexcept;
    entry* steal_round() noexcept;
    entry* try_steal(worker& victim) noexcept;
    void learn_from_theft() noexcept;
    picoseconds least_interval() const noexcept;
    bool may_request(picoseconds now) noexcept;
    void stop_searching() noexcept;
    void park() noexcept;
    void ask_all_others() noexcept;
    void request_work(picoseconds now) noexcept;
    bool is_silent(picoseconds now) noexcept;
    bool take_over() noexcept;
    bool has_public_work() noexcept;

    pool& m_pool;
    const std::size_t m_rank;
    quern::detail::rng m_random;
    picoseconds m_last_request = 0;
    picoseconds m_request_interval = 0;
    picoseconds m_stole_at = 0;
};

}  // namespace virtual_time
