// SPDX-License-Identifier: BSL-1.0
// A recursion that finds by itself below which size it should continue serially. Oracle-guided
// granularity control after Acar, Aksenov, Charguéraud and Rainey, "Provably and Practically
// Efficient Granularity Control", PPoPP 2019, section 3: the program says how the cost of a call
// grows with its size, and measurements give the factor.
#pragma once

#include <quern/adaptation/detail/attach.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>

namespace quern {

/// Chooses between a parallel and a serial execution of the same work. One object for each kind of
/// work, best a static one; the calls of a recursion share it.
///
/// A call runs serially if its predicted time is below kappa, and if its cost is at most twice one
/// that has proved to take less than kappa, or the next larger one that occurs. So an
/// underestimated factor makes one call at a time too coarse. Kappa is a 32nd of a worker's share
/// of the outermost call, at least 50 times the measured overhead of a task and at most 10 ms. With
/// the setting adapt=off or dry-run every call runs in parallel.
///
/// Thread safe; a recursion through it may have any depth. Cost: three relaxed loads, about 2 ns;
/// two clock readings for one call in eight of those near the cut-off; two read-modify-writes for a
/// parallel call. What the functions throw leaves the call.
///
///     static quern::cutoff small("sort");
///     void sort(double* first, double* last) {
///         const double n = double(last - first);
///         small(n * std::log2(n + 1),
///               [&] { sort_halves_in_parallel(first, last); },
///               [&] { std::sort(first, last); });
///     }
class cutoff {
public:
    /// `name` is shown in decisions and must live as long as the object.
    explicit constexpr cutoff(const char* name) noexcept : m_name(name) {}
    cutoff(const cutoff&) = delete;
    cutoff& operator=(const cutoff&) = delete;
    ~cutoff() = default;

    /// Returns what the chosen function returns. `cost`: how the work grows, in any unit; above 0.
    template <class Parallel, class Serial>
    decltype(auto) operator()(double cost, Parallel&& parallel, Serial&& serial) {
        if (!is_small(cost)) {
            const outer_call running(*this, cost);
            return detail::on_enough_stack(parallel);
        }
        if (!is_to_be_measured(cost)) {
            return detail::on_enough_stack(serial);
        }
        const measurement running(*this, cost);
        return detail::on_enough_stack(serial);
    }

    /// The largest cost that has proved to take less than kappa; 0: none yet.
    double proven() const noexcept { return m_proven.load(std::memory_order_relaxed); }

    /// The measured time of a unit of cost; 0: none yet.
    double ns_per_cost() const noexcept { return m_ns_per_cost.load(std::memory_order_relaxed); }

    /// The least kappa, in ns.
    static double least_kappa_ns() noexcept;

private:
    using order = std::memory_order;

    class measurement {
    public:
        measurement(cutoff& of, double cost) noexcept
            : m_of(of), m_cost(cost), m_exceptions(std::uncaught_exceptions()) {}
        measurement(const measurement&) = delete;
        measurement& operator=(const measurement&) = delete;
        ~measurement() {
            if (std::uncaught_exceptions() == m_exceptions) {
                m_of.report(m_cost, detail::ticks() - m_begin);
            }
        }

    private:
        cutoff& m_of;
        double m_cost;
        int m_exceptions;
        detail::tick_count m_begin = detail::ticks();
    };

    /// A parallel execution in progress.
    class outer_call {
    public:
        outer_call(cutoff& of, double cost) noexcept
            : m_of(of), m_cost(cost), m_begin(of.enter(cost)) {}
        outer_call(const outer_call&) = delete;
        outer_call& operator=(const outer_call&) = delete;
        ~outer_call() {
            m_of.leave(m_cost, std::uncaught_exceptions() == m_exceptions ? m_begin : 0);
        }

    private:
        cutoff& m_of;
        double m_cost;
        int m_exceptions = std::uncaught_exceptions();
        detail::tick_count m_begin;
    };

    /// relaxed throughout: the numbers are hints, and each is valid alone.
    bool is_small(double cost) noexcept {
        const double proven = m_proven.load(order::relaxed);
        if (cost > proven) {
            return is_next(cost, proven);
        }
        return cost <= limit();
    }

    /// The cost that takes kappa; for an outermost call the least kappa.
    double limit() const noexcept {
        return (m_parallel.load(order::relaxed) == 0 ? m_least : m_inner).load(order::relaxed);
    }

    bool is_to_be_measured(double cost) noexcept {
        const double proven = m_proven.load(order::relaxed);
        if (cost > proven) {
            return true;
        }
        constexpr std::uint32_t k_one_in = 8;
        return cost * 2 > proven && m_turn.fetch_add(1, order::relaxed) % k_one_in == 0;
    }

    bool is_next(double cost, double proven) noexcept;
    /// The time now for an outermost call, else 0.
    detail::tick_count enter(double cost) noexcept;
    /// `begin`: 0 if nothing is to be learned.
    void leave(double cost, detail::tick_count begin) noexcept;
    void set_limits(double factor) noexcept;
    void report(double cost, detail::tick_count took) noexcept;

    const char* m_name;
    std::atomic<double> m_proven{0};
    std::atomic<double> m_ns_per_cost{0};  ///< 0: not measured
    /// The smallest cost above the proven one that has occurred since that was found.
    std::atomic<double> m_next{std::numeric_limits<double>::infinity()};
    std::atomic<double> m_least{std::numeric_limits<double>::infinity()};  ///< see limit()
    std::atomic<double> m_inner{std::numeric_limits<double>::infinity()};
    std::atomic<double> m_largest{0};          ///< cost of the outermost call in progress
    std::atomic<std::uint32_t> m_parallel{0};  ///< parallel executions in progress
    std::atomic<std::uint32_t> m_turn{0};
    std::atomic<bool> m_is_logged{false};
};

}  // namespace quern
