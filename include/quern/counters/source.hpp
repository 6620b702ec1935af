// SPDX-License-Identifier: BSL-1.0
// Where counters come from: a source offers counters that are read together, the statistics of the
// workers or a file of the system. A reading is raw, a running sum or a pair of them, and each
// reader makes values of it against its own baseline. So nothing is ever reset, and no two readers
// disturb each other.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quern::counters {

/// How a value comes from two raw readings.
enum class counter_kind : std::uint8_t {
    sum,    ///< what has been added since the baseline
    level,  ///< what is the case now; the baseline does not matter
    ratio,  ///< what has been added, divided by what has been added below, times the scale
};

/// Whether a source can be read here; a counter that cannot never shows a number.
enum class source_state : std::uint8_t {
    ok,
    absent,  ///< this machine or kernel has no such thing
    denied,  ///< it is there, and this process may not read it
    stuck,   ///< it can be read and does not move
};

/// What is known of a counter without reading it.
struct counter_info {
    std::string name;  ///< without instance: "/threads/time/average"
    counter_kind kind = counter_kind::sum;
    std::string unit;  ///< "ns", "0.01 %", "B", "J"; empty for a plain number
    std::string
        help;  ///< in a few words that stand alone, without a full stop, as the settings have it
    double scale = 1.0;  ///< of a ratio
};

/// Of what: the whole process, a pool, a worker.
struct place {
    std::optional<pool_ref> pool{};  ///< nothing: the whole runtime and its process
    std::optional<unsigned> worker{};
    /// The runtime that is meant where no pool is named. It lives while the source reads.
    const runtime* whole = nullptr;
};

/// A raw reading.
struct raw_reading {
    double above = 0.0;  ///< the sum, the level, or the dividend
    double below = 0.0;  ///< the divisor of a ratio
    source_state state = source_state::ok;
    std::string why{};  ///< where the state is not ok: "EACCES (Permission denied)"
    /// It counts from this very reading on, because nobody has read it before: a 0 that says
    /// nothing of the time until now.
    bool begins = false;
};

/// Counters that are read together. Thread safe: read by several readers at the same time.
class source {
public:
    source() = default;
    source(const source&) = delete;
    source& operator=(const source&) = delete;
    virtual ~source() = default;

    /// The same ones always, also those that cannot be read here.
    virtual const std::vector<counter_info>& counters() const = 0;

    /// Whether it has values of single workers and pools, not of the whole alone.
    virtual bool has_workers() const = 0;

    /// One reading for each of counters(), in that order, all of the same moment.
    virtual std::vector<raw_reading> read(const place& where) = 0;

    /// For each of the places what read() gives, as far as possible all of the same moment: so a
    /// source of workers whose sums are to agree overrides it.
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
