// SPDX-License-Identifier: BSL-1.0
// Lets a trace recorder draw values of a layer that it does not include: performance counters, of a
// sibling layer, become series of a trace. The counters register a source, and the recorder asks
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

/// One value of a series, with the description of the series.
struct series_value {
    std::string name{};
    std::string unit{};
    std::optional<double> value{};  ///< nothing: no value now
    std::string why{};              ///< why there is none; empty: a value may come later
};

/// Reads the requested series in the form in which they are drawn. Used by one thread at a time;
/// may outlive the runtime.
class series_reader {
public:
    series_reader() = default;
    series_reader(const series_reader&) = delete;
    series_reader& operator=(const series_reader&) = delete;
    virtual ~series_reader() = default;

    /// Always the same series in the same order.
    virtual std::vector<series_value> read() = 0;

    /// Whether read() runs user code, which may wake tasks.
    virtual bool calls_program() const noexcept = 0;
};

/// Makes a reader of names with `*` and `?`, separated by ';'. A name unknown to the runtime is a
/// series with a reason. Null: the runtime is not known yet, or no longer; observers learn of a
/// runtime in no fixed order. May run user code.
using series_source = std::unique_ptr<series_reader> (*)(const runtime& of, std::string_view names);

/// Makes it the source of the process. Thread safe, as is find_series_source().
void set_series_source(series_source from) noexcept;

/// Null if there is none.
series_source find_series_source() noexcept;

}  // namespace detail
}  // namespace quern
