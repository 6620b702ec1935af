// SPDX-License-Identifier: BSL-1.0
// A virtual worker: the scheduler's protocol templates on virtual_time::atomics, and around them
// the decisions of steal.cpp, take.cpp, search.cpp, parking.cpp, loop.cpp and stacks.cpp, repeated
// by hand: the types that make these are no templates over atomics. Each function has the name of
// the one that it repeats. Leaves out what a pool without priorities, hints, timers and pollers
// never does.
#pragma once

#include "context.hpp"

#include <quern/base/detail/rng.hpp>
#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/detail/ready_deque.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace virtual_time {

/// Who wakes sleepers when there is work.
enum class waking : std::uint8_t {
    relay,  ///< a publisher if no worker searches, and the last searcher that finds work: one each
    tree    ///< each of them as many as it sees work for, at most rules::fanout
};

/// What an experiment changes. The defaults are what the scheduler does.
struct rules {
    bool asks_one = false;               ///< a thief asks one victim a round instead of all
    picoseconds ask_least = 5'000'000;   ///< as k_request_ns in steal.cpp
    picoseconds ask_most = 200'000'000;  ///< as k_request_limit_ns
    picoseconds coarse = 500'000;        ///< as k_coarse_ns in context.cpp
    bool times_every_push = false;       ///< also one that is slow because a thief has asked
    bool asks_at_once = false;           ///< no least interval before a thief's first theft
    picoseconds spin = 50'000'000;       ///< as the default of spin-us
    bool crowds = true;                  ///< searchers beyond half of the workers sleep at once
    waking wakes = waking::tree;
    unsigned fanout = 2;  ///< as the default of wake-fanout
};

class worker;

struct pool {
    pool(unsigned workers, const rules& r, std::uint64_t seed);
    bool wake_one(std::size_t near) noexcept;
    context& make_context(worker& host);

    const rules how;
    alignas(quern::detail::k_cache_line) quern::detail::idle_gate<atomics> gate;
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> injected{0};
    std::vector<std::unique_ptr<worker>> workers;
    /// From here on the first item of each worker is recorded.
    picoseconds epoch = 0;

private:
    std::vector<std::unique_ptr<context>> m_contexts;
};

class alignas(quern::detail::k_cache_line) worker {
public:
    struct figures {
        std::uint64_t stolen = 0;
        std::uint64_t answers = 0;  ///< requests that its contexts answered
        std::uint64_t parks = 0;
        std::uint64_t suspensions = 0;
        std::uint64_t vain = 0;      ///< times that it was woken, found nothing and slept again
        picoseconds first_item = 0;  ///< when it began its first item since pool::epoch
    };
    /// What the context that was switched to does for the one that was left.
    struct after_switch {
        void (*run)(context& left, void* argument) = nullptr;
        void* argument = nullptr;
    };

    worker(pool& home, std::size_t rank, std::uint64_t seed)
        : first(*this), m_pool(home), m_rank(rank), m_random(seed) {}

    /// The calling core becomes this worker.
    void begin() noexcept;
    /// Runs items for ever. `self` may move to other workers.
    [[noreturn]] static void loop(context& self) noexcept;

    void push(ready_item& item) noexcept;
    ready_item* pop() noexcept;
    /// For a task that waits for others: its worker's next item, else a fresh loop.
    context& next_context();
    void switch_context(context& from, context& to, after_switch after) noexcept;
    void landed() noexcept;
    /// `parts`: how many workers could have some of the public work.
    void notify_public_work(unsigned parts = 1) noexcept;

    pool& home() noexcept { return m_pool; }
    std::size_t rank() const noexcept { return m_rank; }

    // Lines as in the real worker: those that thieves read do not hold the owner's own words.
    quern::detail::ready_deque<atomics, ready_item> deque;
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> inbox{0};
    alignas(quern::detail::k_cache_line) atomic<std::uint64_t> hinted{0};
    alignas(quern::detail::k_cache_line) stealable_contexts suspended;
    alignas(quern::detail::k_cache_line) quern::detail::sleeper<atomics> parker;
    alignas(quern::detail::k_cache_line) atomic<context*> current{nullptr};
    context first;
    alignas(quern::detail::k_cache_line) figures counted;

private:
    work* next_item() noexcept;
    void begin_item(context& self) noexcept;
    void answer_request() noexcept;
    work* take_ready() noexcept;
    work* search_and_park() noexcept;
    work* search() noexcept;
    work* steal_round() noexcept;
    work* try_steal(worker& victim) noexcept;
    void learn_from_theft() noexcept;
    picoseconds least_interval() const noexcept;
    bool may_request(picoseconds now) noexcept;
    void stop_searching() noexcept;
    void wake_up_to(unsigned count) noexcept;
    void park() noexcept;
    void ask_all_others() noexcept;
    void request_work(picoseconds now) noexcept;
    bool is_silent(picoseconds now) noexcept;
    bool take_over() noexcept;
    bool has_public_work() noexcept;
    void wake_for_rest(worker& victim) noexcept;

    context& take_context();
    [[noreturn]] void leave_for(context& from, context& to) noexcept;
    void adopt(context& c) noexcept;

    pool& m_pool;
    const std::size_t m_rank;
    quern::detail::rng m_random;
    picoseconds m_last_request = 0;
    picoseconds m_request_interval = 0;
    picoseconds m_stole_at = 0;
    std::uint32_t m_last_batch = 0;  ///< items of the last theft; 0: a forked child
    std::uint32_t m_batch_limit = 1;
    bool m_is_woken = false;  ///< and has found nothing since
    std::vector<context*> m_spare;
    after_switch m_after;
    context* m_left = nullptr;
};

}  // namespace virtual_time
