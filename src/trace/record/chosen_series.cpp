// SPDX-License-Identifier: BSL-1.0
// Requests the reader until it exists, and keeps its readings.
#include "record/chosen_series.hpp"

#include <utility>

namespace quern::trace::detail {

namespace {

constexpr int k_quick_tries = 20;  ///< the observers of a runtime are called within microseconds
constexpr std::uint64_t k_just_now_ns = 1'000'000;

}  // namespace

void thin_out(series& one) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < one.points.size(); i += 2) {
        one.points[kept++] = one.points[i];
    }
    one.points.resize(kept);
}

bool chosen_series::is_expected() const noexcept {
    return !m_names.empty() && m_reader == nullptr && m_tries < k_quick_tries &&
           quern::detail::find_series_source() != nullptr;
}

/// Creating the reader sets its baseline, which is a reading.
bool chosen_series::calls_program() const noexcept {
    return !m_names.empty() && (m_reader == nullptr || m_reader->calls_program());
}

void chosen_series::look(std::uint64_t at_ns) {
    if (m_names.empty()) {
        return;
    }
    m_looked_at_ns = at_ns;
    if (m_reader == nullptr) {
        ++m_tries;
        if (const auto from = quern::detail::find_series_source()) {
            m_reader = from(m_of, m_names);
        }
        return;
    }
    std::vector<quern::detail::series_value> values = m_reader->read();
    m_seen.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        series& one = m_seen[i];
        one.name = std::move(values[i].name);
        one.unit = std::move(values[i].unit);
        if (values[i].value) {
            one.points.emplace_back(at_ns, *values[i].value);
        } else if (!values[i].why.empty()) {
            one.why = std::move(values[i].why);
        }
    }
}

void chosen_series::look_last(std::uint64_t at_ns) {
    if (m_reader != nullptr && (m_seen.empty() || at_ns - m_looked_at_ns > k_just_now_ns)) {
        look(at_ns);
    }
}

void chosen_series::thin_out() {
    for (series& each : m_seen) {
        detail::thin_out(each);
    }
}

void chosen_series::move_to(std::vector<series>& all) {
    if (!m_names.empty() && m_seen.empty()) {
        m_seen.push_back({m_names,
                          "",
                          {},
                          quern::detail::find_series_source() == nullptr
                              ? "the program has no performance counters"
                              : "the recording ended before it could be read"});
    }
    for (series& each : m_seen) {
        if (!each.points.empty()) {
            each.why.clear();
        } else if (each.why.empty()) {
            each.why = "it had no value while it was recorded";
        }
        all.push_back(std::move(each));
    }
    m_seen.clear();
}

}  // namespace quern::trace::detail
