// SPDX-License-Identifier: BSL-1.0
// The interface of counter sources. A source offers counters that are read together, such as the
// statistics of the workers or a file of the system. A reading is raw, a running sum or a pair of
// sums, and each reader computes values from it against its own baseline. So nothing is ever reset,
// and readers do not disturb each other.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quern::counters {

/// How a value is computed from two raw readings.
enum class counter_kind : std::uint8_t {
    sum,    ///< increase since the baseline
    level,  ///< the present value, without baseline
    ratio,  ///< increase of the dividend, divided by that of the divisor, times the scale
};

/// Whether a source can be read here. A counter that cannot be read never shows a number.
enum class source_state : std::uint8_t {
    ok,
    absent,   ///< not supported by this machine or kernel
    denied,   ///< it exists, but this process may not read it
    stuck,    ///< it can be read but does not change
    not_yet,  ///< it has no value now and may have one later: a ratio of which nothing is counted
};

/// The properties of a counter, known without a reading.
struct counter_info {
    std::string name;  ///< without instance: "/threads/time/average"
    counter_kind kind = counter_kind::sum;
    std::string unit;    ///< "ns", "0.01 %", "B", "J"; empty for a plain number
    std::string help;    ///< a few words without a full stop, as in the help of settings
    double scale = 1.0;  ///< of a ratio
};

/// The scope of a reading: the whole process, a pool, a worker.
struct place {
    std::optional<pool_ref> pool{};  ///< none: the whole runtime and its process
    std::optional<unsigned> worker{};
    /// The runtime if no pool is given. It stays alive during the reading.
    const runtime* whole = nullptr;
};

struct raw_reading {
    double above = 0.0;  ///< the sum, the level, or the dividend
    double below = 0.0;  ///< the divisor of a ratio
    source_state state = source_state::ok;
    std::string why{};  ///< reason unless the state is ok: "EACCES (Permission denied)"
    /// Counting starts with this first reading: its 0 does not cover earlier time.
    bool begins = false;
};

/// Counters that are read together. Thread safe: several readers may read at the same time.
class source {
public:
    source() = default;
    source(const source&) = delete;
    source& operator=(const source&) = delete;
    virtual ~source() = default;

    /// Always the same, including counters that cannot be read here.
    virtual const std::vector<counter_info>& counters() const = 0;

    /// Whether it has values of single workers and pools, not only of the whole.
    virtual bool has_workers() const = 0;

    /// One reading for each of counters(), in that order, all at the same moment.
    virtual std::vector<raw_reading> read(const place& where) = 0;

    /// read() for each of the places, as far as possible at the same moment. A source of workers
    /// overrides it, so that the sums are consistent.
    virtual std::vector<std::vector<raw_reading>> read_all(std::span<const place> places) {
        std::vector<std::vector<raw_reading>> all;
        all.reserve(places.size());
        for (const place& each : places) {
            all.push_back(read(each));
        }
        return all;
    }
};

}  // namespace quern::counters
