// SPDX-License-Identifier: BSL-1.0
// The depth-first search over interleavings: which decision comes next, which can be left out. The
// engine asks it at each step (pick, record, choose) and after each execution (advance). It knows
// actors and accesses, never values or fibres. Invariant: for each class of executions that differ
// only in the order of independent steps, at least one is run to its end; the argument is in
// README.md, "How the reduction works".
#pragma once

#include "clocks.hpp"
#include "core.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace model::detail {

using actor_id = std::uint8_t;    // a thread, or a queue of a store buffer
using actor_set = std::uint32_t;  // one bit per actor
constexpr actor_set one(std::size_t actor) noexcept { return actor_set{1} << actor; }
inline std::size_t lowest(actor_set s) noexcept {
    return static_cast<std::size_t>(std::countr_zero(s));
}

enum class access_class : std::uint8_t { none, read, write, wait, wake, idle_wake, time_out };

// The accesses of a step: all that independence depends on.
struct access {
    access_class kind = access_class::none;
    std::uint8_t thread =
        0;  // the thread behind the actor; its own buffered stores commute with it
    object_id object = 0;
    std::uint64_t woken_by =
        0;  // first step after a pause: the objects whose change ends the pause, one bit each
};

constexpr std::uint64_t object_bit(object_id id) noexcept {
    return std::uint64_t{1} << (id < 63 ? id : 63);
}
[[nodiscard]] bool dependent(const access& a, const access& b) noexcept;

enum class strategy : std::uint8_t { reduced, full, random, scripted };

class search_tree {
public:
    search_tree(strategy how, std::uint64_t seed) : m_strategy(how), m_random(seed * 2 + 1) {}

    void begin_execution();
    // False when all is explored.
    [[nodiscard]] bool advance();

    // The actor of the next step, or none when each of `enabled` would only repeat an earlier
    // execution.
    static constexpr std::size_t k_nobody = k_max_actors;
    [[nodiscard]] std::size_t pick(actor_set enabled, std::size_t preferred);
    // True when the step just picked is new: then record() must follow with its accesses.
    [[nodiscard]] bool must_record() const noexcept { return m_step == m_events.size(); }
    // The actors whose next access record() expects in `pending`, indexed by actor.
    [[nodiscard]] actor_set sleepers() const noexcept { return m_nodes[m_current].sleep; }
    // `after` lists earlier steps (by number) that made this one possible and so cannot be
    // exchanged with it.
    void record(std::size_t actor, const access& a, std::span<const std::uint32_t> after,
                std::span<const access> pending);
    // Instead of record(), for a step of an earlier execution: it must be the same again.
    void confirm(const access& a) noexcept;
    void end_step(std::size_t actor) noexcept;
    [[nodiscard]] unsigned choose(unsigned n);

    // All steps so far come before all later ones.
    void barrier() noexcept { m_barrier = m_counts; }

    [[nodiscard]] std::uint32_t steps() const noexcept { return m_step; }
    [[nodiscard]] bool in_order() const noexcept {
        return !m_diverged;
    }  // false: the program was not deterministic
    [[nodiscard]] std::string script() const;
    [[nodiscard]] bool load_script(const std::string& text);

private:
    static constexpr std::uint32_t k_choice = ~std::uint32_t{0};
    static constexpr std::uint32_t k_no_event = ~std::uint32_t{0};
    struct node {
        std::uint32_t event = 0;  // number of the step decided here, or k_choice
        unsigned chosen = 0;
        unsigned alternatives = 0;  // of a choice
        actor_set enabled = 0;
        actor_set backtrack = 0;   // to be explored from here, including those done
        actor_set sleep = 0;       // done here, or before and undisturbed since
        actor_set next_sleep = 0;  // of the node after the chosen step
    };
    struct event {
        actor_id actor = 0;
        std::uint16_t index = 0;  // the actor's own count
        std::uint32_t decided_at = 0;
        access what;
        order_clock clock;
    };

    void find_races(std::size_t actor, const access& a, order_clock& clock);
    void reverse(std::size_t first, std::size_t actor, std::uint16_t index,
                 const order_clock& clock);
    [[nodiscard]] std::uint64_t next_random() noexcept;

    strategy m_strategy;
    std::uint64_t m_random;
    std::vector<node> m_nodes;
    std::vector<event> m_events;
    std::size_t m_cursor = 0;   // the next decision of this execution
    std::size_t m_current = 0;  // the last scheduling decision
    std::uint32_t m_step = 0;
    bool m_diverged = false;
    actor_set m_sleep = 0;  // for the next new node
    order_clock m_counts;
    order_clock m_barrier;
    std::uint32_t m_last[k_max_actors] = {};
};

}  // namespace model::detail
