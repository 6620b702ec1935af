// SPDX-License-Identifier: BSL-1.0
// Reading counters. Every reader has its own baseline: a value covers the time since the reader was
// created or last reset, and readers do not disturb each other.
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

struct counter_value {
    std::string name;  ///< full name
    std::string unit;
    double value = 0.0;  ///< valid only if ok()
    source_state state = source_state::ok;
    std::string why{};  ///< set unless the state is ok
    counter_kind kind = counter_kind::sum;

    bool ok() const noexcept { return state == source_state::ok; }
};

/// Values read together.
struct snapshot {
    std::chrono::steady_clock::time_point at{};
    double time_s = 0.0;  ///< since the runtime started
    std::vector<counter_value> values{};
};

/// The point from which a reader counts.
enum class baseline : std::uint8_t {
    now,  ///< from when the counter is added
    /// From the start of the runtime or process. Sources that only count once they are opened, such
    /// as hardware events, are unavailable at the first reading.
    start,
};

/// Counters that are read together: each worker is read once for all of them, so the values are
/// consistent, and the sum of a counter over the workers is its total. Not thread safe: a set
/// belongs to one reader. It may outlive the runtime; its values are unavailable then.
///
///     quern::counters::counter_set set;
///     set.add("/threads{worker-thread#*}/idle-rate");
///     for (const auto& v : set.evaluate().values) std::printf("%s %g\n", v.name.c_str(), v.value);
class counter_set {
public:
    /// For the same runtime as discover(), with its errors.
    counter_set();
    explicit counter_set(const runtime& of, baseline from = baseline::now);
    ~counter_set();
    counter_set(counter_set&& from) noexcept;
    counter_set& operator=(counter_set&& from) noexcept;

    /// Adds the counters that match, in the order of discover(); counters that are already in the
    /// set are added again. Returns how many. Throws std::invalid_argument, with the nearest name,
    /// for a name that is malformed or matches no counter.
    std::size_t add(std::string_view pattern);

    /// Cost: about 1 us, plus 100 ns per worker, 100 ns per value, and the cost of system sources.
    /// With `reset`, the next values count from this moment.
    snapshot evaluate(bool reset = false);

    /// The next values count from now. Other readers are not affected.
    void reset();

    std::vector<std::string> names() const;
    std::size_t size() const noexcept;

    /// Whether a reading calls functions of the program: counters that it has installed.
    bool calls_program() const noexcept;

private:
    struct parts;
    explicit counter_set(std::unique_ptr<parts> made) noexcept;
    std::unique_ptr<parts> m_parts;
};

/// One counter with its own baseline.
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

/// Throws std::invalid_argument for a name that is malformed, matches no counter, or matches
/// several.
counter create(std::string_view name);
counter create(std::string_view name, const runtime& of);

}  // namespace quern::counters
