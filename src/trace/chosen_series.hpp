// SPDX-License-Identifier: BSL-1.0
// The series of a recording that the user has named: performance counters, which another layer
// reads. Its reader can be made only as soon as that layer knows the runtime.
#pragma once

#include <quern/scheduler/series_source.hpp>
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
    /// Names as quern::detail::series_source takes them; none: nothing is looked at.
    chosen_series(const runtime& of, std::string_view names) : m_of(of), m_names(names) {}

    /// There may soon be a reader. Not for long: a runtime may never become known.
    bool is_expected() const noexcept;
    /// Whether the next look may run code of the program's own.
    bool calls_program() const noexcept;

    void look(std::uint64_t at_ns);
    /// The same at the end, where the last look was not just now.
    void look_last(std::uint64_t at_ns);

    /// Every other point goes.
    void thin_out();

    /// Adds what was seen. A series without a point has a reason.
    void move_to(std::vector<series>& all);

private:
    const runtime& m_of;
    const std::string m_names;
    std::unique_ptr<quern::detail::series_reader> m_reader{};
    int m_tries = 0;
    std::uint64_t m_looked_at_ns = 0;
    std::vector<series> m_seen{};
};

/// Every other point goes.
void thin_out(series& one);

}  // namespace quern::trace::detail
