// SPDX-License-Identifier: BSL-1.0
// Series of a recording chosen by the user: performance counters, which another layer reads. Their
// reader cannot be created before that layer knows the runtime.
#pragma once

#include <quern/scheduler/detail/series_source.hpp>
#include <quern/trace/recording.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern::trace::detail {

/// Used by one thread at a time.
class chosen_series {
public:
    /// Names as for quern::detail::series_source; empty: no series.
    chosen_series(const runtime& of, std::string_view names) : m_of(of), m_names(names) {}

    /// Whether the reader may appear soon. The number of attempts is limited, since a runtime may
    /// never be registered.
    bool is_expected() const noexcept;
    /// Whether the next look() may run code of the program.
    bool calls_program() const noexcept;

    void look(std::uint64_t at_ns);
    /// The final look(), unless one was just made.
    void look_last(std::uint64_t at_ns);

    /// Removes every other point.
    void thin_out();

    /// Moves the series to `all`. A series without points has a reason.
    void move_to(std::vector<series>& all);

private:
    const runtime& m_of;
    const std::string m_names;
    std::unique_ptr<quern::detail::series_reader> m_reader{};
    int m_tries = 0;
    std::uint64_t m_looked_at_ns = 0;
    std::vector<series> m_seen{};
};

/// Removes every other point.
void thin_out(series& one);

}  // namespace quern::trace::detail
