// SPDX-License-Identifier: BSL-1.0
// quern::and_gate, as in HPX: a trigger that is set when all of its inputs have been set.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/trigger.hpp>

#include <cstddef>
#include <stop_token>
#include <vector>

namespace quern {

/// Collects inputs that arrive in any order, one generation after another.
///
///     quern::and_gate neighbours(2);
///     auto both = neighbours.get_future();
///     from_left([&] { neighbours.set(0); });
///     from_right([&] { neighbours.set(1); });
///     auto next = both.then([](auto) { relax(); });
///
/// When every input has been set, the generation ends like that of a quern::trigger, and all inputs
/// may be set again. What precedes each set() happens before what the end of the generation
/// releases. It may be destroyed as a trigger may. An input may be set for the next generation only
/// after the setter has observed the end of the present one: by its future, by synchronize() or as
/// the last input. Unlike in HPX, generations are counted from 0 and advance automatically.
/// Thread safety: any thread. Cost: a short spin-lock section; the last input sets the trigger.
class and_gate {
public:
    /// Throws std::invalid_argument if `inputs` is 0.
    explicit and_gate(std::size_t inputs);
    and_gate(const and_gate&) = delete;
    and_gate& operator=(const and_gate&) = delete;
    ~and_gate() { detail::refuse_if_awaited(m_trigger.m_generation.first_waiter(), "an and_gate"); }

    [[nodiscard]] std::size_t inputs() const noexcept { return m_is_set.size(); }

    /// Sets input number `which`, counted from 0. Returns whether it was the last of this
    /// generation. Throws std::out_of_range if there is no such input, std::invalid_argument if it
    /// has been set in this generation already.
    bool set(std::size_t which);

    /// Ready when the present generation ends.
    shared_future<void> get_future() { return m_trigger.get_future(); }

    /// Waits until generation number `n`, counted from 0, has begun.
    void synchronize(std::int64_t n) noexcept { m_trigger.synchronize_as(n, {&k_wait, this}); }

    /// As synchronize(), until `stop` is requested: false if that comes first. See
    /// event::wait(stop).
    bool synchronize(std::int64_t n, const std::stop_token& stop) noexcept {
        return m_trigger.synchronize_as(n, {&k_wait, this}, stop);
    }

    /// The number of the present generation.
    [[nodiscard]] std::int64_t generation() const noexcept { return m_trigger.generation(); }

private:
    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    bool first_time(std::size_t which, bool& is_last) noexcept;

    detail::spin_lock m_lock;
    std::vector<bool> m_is_set;  ///< in this generation
    std::size_t m_left;          ///< inputs not set yet
    trigger m_trigger;
};

}  // namespace quern
