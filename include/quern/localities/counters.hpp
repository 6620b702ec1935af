// SPDX-License-Identifier: BSL-1.0
// Reading the performance counters of other localities, while they run.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/counters/counter.hpp>
#include <quern/localities/object.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quern::localities {

namespace detail {

/// The counters of one locality that a set elsewhere reads. It stays there.
class watched_counters {
public:
    /// Returns the full names of those that match, with this locality's number.
    std::vector<std::string> add(const std::string& pattern);
    std::vector<counters::counter_value> evaluate(bool reset);

private:
    counters::counter_set m_set;
};

}  // namespace detail

/// Counters of any localities that are read together. As quern::counters::counter_set, with the
/// names of the job: `{locality#1/…}` is of locality 1, `{locality#*/…}` of each; without a
/// locality, and without an instance, a name is that of each too. Every set has its own baseline.
///
///     quern::localities::counter_set job;
///     job.add("/threads{locality#*/total}/idle-rate");
///     job.add("/parcels/count/sent");
///     for (const auto& v : job.evaluate().get()) {
///         if (v.ok()) std::printf("%s %g\n", v.name.c_str(), v.value);
///     }
///
/// A value is read where it belongs, at about the same time as the others: as soon as the call
/// arrives. Functions of --quern:print-counter print those of their own process.
/// Errors: std::logic_error without a session. Thread safety: not thread safe; a set belongs to one
/// reader. Cost of a reading: a call for each locality that has one of its counters, and there as
/// counters::counter_set.
class counter_set {
public:
    /// Adds the counters that match, for the default runtimes of the localities. Waits; a task lets
    /// others run. Returns how many. Throws std::invalid_argument for a name that is malformed,
    /// names no locality, or matches no counter.
    std::size_t add(std::string_view pattern);

    /// Their values, by locality and in the order in which they were added. With `reset` the next
    /// values count from this moment.
    future<std::vector<counters::counter_value>> evaluate(bool reset = false);

    /// The names of the values that evaluate() gives, in its order.
    std::vector<std::string> names() const;

private:
    struct part {
        int locality;
        object<detail::watched_counters> counters;
        std::vector<std::string> names;
    };
    part& part_of(int locality);

    std::vector<part> m_parts{};  ///< by locality
};

}  // namespace quern::localities
