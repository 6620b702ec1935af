// SPDX-License-Identifier: BSL-1.0
// A number that a program leaves to Quern: the grain of its tasks, a tile size, a cut-off.
#pragma once

#include <quern/adaptation/region.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace quern {

template <std::integral T>
struct tuned_range {
    T least;
    T most;
};

struct tuned_options {
    /// `model` is for the number of elements per task: it computes from the workers' times. A
    /// number that is no grain needs another one.
    adaptation::strategy how = adaptation::strategy::model;
    std::uint64_t seed = 1;
    std::string unit{};  ///< in the log of decisions: "points"
    /// None: the wall time. Another one needs another strategy than `model`.
    std::optional<adaptation::metric> minimise{};
};

/// The number for a part of a program that is executed again and again, such as a few time steps.
/// Each execution is a trial until the search has converged, which `model` does within 8 trials.
/// An execution should take several ms, and long enough for its caches to be warm.
///
/// Errors: std::invalid_argument for a range that is empty or begins below 1, and for a start
/// outside of it; for a metric as adaptation::region. Thread safety, cost: as adaptation::region.
///
///     quern::tuned<int> grain("sum.grain", {1'000, n / 2});
///     for (int step = 0; step < 1000; ++step) {
///         auto now = grain.enter();
///         sum_in_tasks_of(now.value());
///     }
template <std::integral T>
class tuned {
public:
    using range = tuned_range<T>;

    /// `start`: where the search begins; the middle, by ratio, without it.
    tuned(const std::string& name, range within, std::optional<T> start = {},
          tuned_options options = {})
        : m_region(name, space_of(name, within, start),
                   {.how = options.how,
                    .search = {.seed = options.seed},
                    .minimise = std::move(options.minimise),
                    .unit = std::move(options.unit)}) {}

    class entry {
    public:
        T value() const { return static_cast<T>(m_entry.where().values().front()); }
        /// As region::entry.
        void work(double units) { m_entry.work(units); }
        void discard() noexcept { m_entry.discard(); }

    private:
        friend class tuned;
        explicit entry(adaptation::region::entry made) noexcept : m_entry(std::move(made)) {}
        adaptation::region::entry m_entry;
    };

    /// Begins an execution; its destructor ends it.
    [[nodiscard]] entry enter() { return entry(m_region.enter()); }

    /// The best number so far, or the start.
    T best() const { return static_cast<T>(m_region.best().values().front()); }
    bool converged() const { return m_region.converged(); }
    /// As adaptation::tuner::confidence().
    double confidence() const { return m_region.confidence(); }
    std::size_t trials() const { return m_region.trials(); }
    std::size_t repeated() const { return m_region.repeated(); }
    std::string why() const { return m_region.why(); }

private:
    static adaptation::space space_of(std::string name, range within, std::optional<T> start) {
        adaptation::parameter number =
            adaptation::integer(std::move(name), static_cast<std::int64_t>(within.least),
                                static_cast<std::int64_t>(within.most))
                .by_ratio();
        if (start) {
            number = std::move(number).starting_at(static_cast<double>(*start));
        }
        return adaptation::space({std::move(number)});
    }

    adaptation::region m_region;
};

}  // namespace quern
