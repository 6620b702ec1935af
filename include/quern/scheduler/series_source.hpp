// SPDX-License-Identifier: BSL-1.0
// How what records a runtime gets at values that it does not know: performance counters, which are
// of a sibling layer, become series of a trace. Who has values registers a source, who records asks
// it; neither includes the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

class runtime;

namespace detail {

/// One value of a series, with what is to be known of the series.
struct series_value {
    std::string name{};
    std::string unit{};
    std::optional<double> value{};  ///< nothing: there is none now
    std::string why{};              ///< why there is none, or empty: there may be one later
};

/// Reads the series that were wanted, as they are to be drawn. Used by one thread at a time; it may
/// outlive the runtime.
class series_reader {
public:
    series_reader() = default;
    series_reader(const series_reader&) = delete;
    series_reader& operator=(const series_reader&) = delete;
    virtual ~series_reader() = default;

    /// The same series in the same order always.
    virtual std::vector<series_value> read() = 0;

    /// Whether read() runs code of the program's own, which may wake tasks.
    virtual bool calls_program() const noexcept = 0;
};

/// Makes a reader of names with `*` and `?`, separated by ';'. What the runtime has not is a series
/// with a reason. Null: the runtime is not known yet, or not any more; the order in which observers
/// are told of a runtime is not fixed. May run code of the program's own.
using series_source = std::unique_ptr<series_reader> (*)(const runtime& of, std::string_view names);

/// From now on it is the source of the process. Thread safe, as the other.
void set_series_source(series_source from) noexcept;

/// Null where nobody has set one.
series_source find_series_source() noexcept;

}  // namespace detail
}  // namespace quern
