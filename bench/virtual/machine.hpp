// SPDX-License-Identifier: BSL-1.0
// A machine with virtual time: each core is a fibre with a clock of its own, and the core with the
// earliest clock makes the next access. An access advances its core's clock by what the state of
// the cache line costs. A run depends only on the program, the costs and the seed. Called by the
// replaced atomics (atomic.hpp) and by simulated workers. Must never read a real clock.
#pragma once

#include "../../tests/model/fibre.hpp"
#include "costs.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace virtual_time {

enum class access : std::uint8_t {
    load,
    store,  ///< waits in the core's store buffer: only a later read-modify-write waits for it
    modify  ///< a read-modify-write, or a sequentially consistent store
};

class machine {
public:
    static constexpr std::size_t k_most_cores = 1024;
    static constexpr std::size_t k_stack_bytes = 16 << 20;  ///< untouched pages cost nothing

    /// `seed` decides which of two cores with equal clocks is first.
    machine(const costs& c, std::uint64_t seed) : m_costs(c), m_seed(seed) {}
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    /// The first core added is the main one.
    void add_core(std::function<void()> body);

    /// Runs all cores until the body of the main one has returned, on whichever core it runs then.
    /// The others stop where they are; objects on their stacks are not destroyed. Aborts if all
    /// cores sleep before.
    void run();

    // -- for code that runs on a core ------------------------------------------------------

    /// The machine whose core calls, or null outside run(). Then accesses cost nothing.
    static machine* running() noexcept { return s_running; }

    /// Waits until no other core has an earlier clock, and pays. The caller then reads or writes
    /// the word.
    void touch(const void* address, access kind) noexcept;
    /// Time that no other core can observe: needs no turn.
    void spend(picoseconds t) noexcept { here().at += t; }
    picoseconds now() const noexcept { return m_cores[m_here].at; }
    const costs& cost() const noexcept { return m_costs; }

    /// The stack that the calling core runs on.
    model::detail::fibre& stack() noexcept { return *here().stack; }
    /// The calling core continues on another stack, which no core runs on. Returns when a core
    /// continues on the caller's stack again. Costs no time.
    void continue_on(model::detail::fibre& next) noexcept;

    /// A full barrier on every core that runs.
    void barrier() noexcept;
    /// Sleeps if `value`, the word at `word`, is `expected`.
    void futex_wait(const void* word, const std::uint32_t& value, std::uint32_t expected) noexcept;
    void futex_wake(const void* word, int count) noexcept;

    struct figures {
        std::uint64_t accesses = 0;
        std::uint64_t transfers = 0;  ///< of lines from one core to another
        std::uint64_t wakes = 0;
        std::uint64_t barriers = 0;
    };
    const figures& counted() const noexcept { return m_figures; }

private:
    using fibre = model::detail::fibre;

    struct core {
        machine* owner = nullptr;
        std::size_t number = 0;
        std::uint64_t order = 0;  ///< among cores with equal clocks
        picoseconds at = 0;
        picoseconds drained = 0;  ///< when all its buffered stores have reached their lines
        picoseconds delay = 0;    ///< interrupts that it has not paid for
        bool sleeps = false;
        std::function<void()> body;
        std::unique_ptr<fibre> first_stack;
        fibre* stack = nullptr;  ///< on which it runs now
    };
    struct line {
        std::int32_t owner = k_none;        ///< the only core that holds the line, or none
        std::bitset<k_most_cores> sharers;  ///< if there is no owner
        picoseconds free_at = 0;            ///< when its last move between cores ends
    };
    struct turn {
        picoseconds at;
        std::uint64_t order;
        std::size_t core;
        bool operator>(const turn& other) const noexcept {
            return std::pair(at, order) > std::pair(other.at, other.order);
        }
    };
    static constexpr std::int32_t k_none = -1;

    core& here() noexcept { return m_cores[m_here]; }
    void wait_for_turn() noexcept;
    void queue_up(const core& c) { m_turns.push({c.at, c.order, c.number}); }
    void resume_next() noexcept;
    void pay_load(core& c, line& l) noexcept;
    void pay_store(core& c, line& l) noexcept;
    void pay_modify(core& c, line& l) noexcept;
    static bool is_only_holder(const core& c, const line& l) noexcept {
        return l.owner == static_cast<std::int32_t>(c.number);
    }
    /// The line moves to the core for writing; returns when it is there.
    picoseconds take_line(core& c, line& l, picoseconds from) noexcept;
    static void core_main(void* argument);

    static thread_local machine* s_running;

    const costs m_costs;
    const std::uint64_t m_seed;
    std::vector<core> m_cores;
    std::priority_queue<turn, std::vector<turn>, std::greater<>> m_turns;
    std::unordered_map<std::uintptr_t, line> m_lines;
    std::unordered_map<const void*, std::vector<std::size_t>> m_sleepers;
    picoseconds m_barrier_free_at = 0;  ///< the kernel makes one after the other
    figures m_figures;
    fibre m_controller;
    std::size_t m_here = 0;
};

}  // namespace virtual_time
