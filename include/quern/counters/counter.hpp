// SPDX-License-Identifier: BSL-1.0
// Reading counters. Every reader has a baseline of its own: a value is what has happened since the
// reader was made or was last reset, and no reader disturbs another one.
#pragma once

#include <quern/counters/registry.hpp>
#include <quern/counters/source.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters {

/// What a counter says.
struct counter_value {
    std::string name;  ///< in full
    std::string unit;
    double value = 0.0;  ///< not to be looked at unless ok()
    source_state state = source_state::ok;
    std::string why{};  ///< where the state is not ok
    counter_kind kind = counter_kind::sum;

    bool ok() const noexcept { return state == source_state::ok; }
};

/// Several of them, read together.
struct snapshot {
    std::chrono::steady_clock::time_point at{};
    double time_s = 0.0;  ///< since the runtime started
    std::vector<counter_value> values{};
};

/// From when on a reader counts.
enum class baseline : std::uint8_t {
    now,  ///< from when the counter is added
    /// From the start of what counts: the runtime, the process. What counts only from when somebody
    /// looks, such as the hardware's events, is unavailable at the first look.
    start,
};

/// Counters that are read together: each worker is read once for all of them, so that their values
/// fit together; the sum of a counter over the workers is its total. Not thread safe: a set belongs
/// to one reader. It may outlive the runtime; its values are unavailable then.
///
///     quern::counters::counter_set set;
///     set.add("/threads{worker-thread#*}/idle-rate");
///     for (const auto& v : set.evaluate().values) std::printf("%s %g\n", v.name.c_str(), v.value);
class counter_set {
public:
    /// Of the runtime that discover() means; throws as it does.
    counter_set();
    explicit counter_set(const runtime& of, baseline from = baseline::now);
    ~counter_set();
    counter_set(counter_set&& from) noexcept;
    counter_set& operator=(counter_set&& from) noexcept;

    /// Adds the counters that match, in the order in which discover() gives them; those that are
    /// there already are added again. Returns how many. Throws std::invalid_argument for a name
    /// that is malformed, or that no counter has, with the nearest one.
    std::size_t add(std::string_view pattern);

    /// About 1 us, 100 ns a worker and 100 ns a value, and what sources of the system need. With
    /// `reset`, the next values count from this moment.
    snapshot evaluate(bool reset = false);

    /// The next values count from now. No other reader sees it.
    void reset();

    std::vector<std::string> names() const;
    std::size_t size() const noexcept;

    /// Whether reading it runs code of the program's own: counters that it has installed.
    bool calls_program() const noexcept;

private:
    struct parts;
    explicit counter_set(std::unique_ptr<parts> made) noexcept;
    std::unique_ptr<parts> m_parts;
};

/// One counter with a baseline of its own.
///
///     auto tasks = quern::counters::create("/threads/count/cumulative");
///     auto before = tasks.value().value;
class counter {
public:
    explicit counter(counter_set&& only) noexcept : m_set(std::move(only)) {}

    counter_value value() { return std::move(m_set.evaluate().values.front()); }
    void reset() { m_set.reset(); }
    std::string name() const { return m_set.names().front(); }

private:
    counter_set m_set;
};

/// Throws std::invalid_argument for a name that is malformed, that no counter has, or that stands
/// for several.
counter create(std::string_view name);
counter create(std::string_view name, const runtime& of);

}  // namespace quern::counters
