// SPDX-License-Identifier: BSL-1.0
// Opens and reads a group of events, and gives the reasons for missing events.
#include "record/task_events.hpp"

#include <quern/trace/recording.hpp>

#include <algorithm>
#include <cerrno>

namespace quern::trace::detail {

static_assert(k_most_events == topology::event_kernel::k_most_in_group);

void event_sums::add(const event_sums& more, std::uint64_t weight) noexcept {
    enabled += more.enabled * weight;
    counted += more.counted * weight;
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] += more.values[i] * weight;
    }
}

double event_sums::scaled(std::size_t index) const noexcept {
    const auto value = static_cast<double>(values[index]);
    return counted == 0 || counted >= enabled
               ? value
               : value * (static_cast<double>(enabled) / static_cast<double>(counted));
}

/// The first event that can be counted is the group leader.
void event_meter::open() noexcept {
    m_is_opened = true;
    constexpr pid_t k_caller = 0;
    topology::event_kernel& kernel = *m_wanted->kernel;
    for (std::size_t i = 0; i < m_wanted->kinds.size(); ++i) {
        const topology::event_kind& kind = m_wanted->kinds[i];
        m_descriptors[i] = m_leader < 0 ? kernel.open_leader(kind, k_caller)
                                        : kernel.open(kind, k_caller, m_leader);
        if (m_leader < 0 && m_descriptors[i] >= 0) {
            m_leader = m_descriptors[i];
        }
    }
}

/// The minimum difference between two consecutive readings.
void event_meter::learn_own_part() noexcept {
    constexpr int k_readings = 16;  // guessed: at least one of them is undisturbed
    event_sums now;
    for (int i = 0; i < k_readings && m_leader >= 0 && read(now); ++i) {
        for (std::size_t k = 0; i > 0 && k < m_own.size(); ++k) {
            const std::uint64_t more = now.values[k] - m_last.values[k];
            m_own[k] = i == 1 ? more : std::min(m_own[k], more);
        }
        m_last = now;
    }
}

void event_meter::close() noexcept {
    for (std::size_t i = 0; m_leader >= 0 && i < m_wanted->kinds.size(); ++i) {
        if (m_descriptors[i] >= 0) {
            m_wanted->kernel->close(m_descriptors[i]);
        }
    }
    m_leader = -1;
}

/// The group returns the values of its open events, in the order of the list.
bool event_meter::read(event_sums& into) noexcept {
    topology::event_kernel::group_count now;
    m_read_error = m_wanted->kernel->read_group(m_leader, now);
    if (m_read_error != 0) {
        close();
        return false;
    }
    into.enabled = now.enabled;
    into.counted = now.counted;
    std::size_t next = 0;
    for (std::size_t i = 0; i < m_wanted->kinds.size(); ++i) {
        into.values[i] = m_descriptors[i] >= 0 ? now.values[next++] : 0;
    }
    return true;
}

void event_meter::begin(bool adjoins) noexcept {
    if (!m_is_opened) {
        open();
        learn_own_part();
    }
    const bool is_known = adjoins && m_is_fresh;
    m_is_fresh = false;
    m_has_begun = m_leader >= 0 && (is_known || read(m_last));
}

const event_sums* event_meter::end() noexcept {
    event_sums now;
    m_is_fresh = m_has_begun && read(now);
    m_has_begun = false;
    if (!m_is_fresh) {
        return nullptr;
    }
    m_difference.enabled = now.enabled - m_last.enabled;
    m_difference.counted = now.counted - m_last.counted;
    for (std::size_t i = 0; i < now.values.size(); ++i) {
        const std::uint64_t more = now.values[i] - m_last.values[i];
        m_difference.values[i] = more - std::min(more, m_own[i]);
    }
    m_last = now;
    return &m_difference;
}

std::string event_meter::open_fault(std::size_t index) const {
    const int error = -m_descriptors[index];
    const auto leader = static_cast<std::size_t>(
        std::find_if(m_descriptors.begin(), m_descriptors.end(), [](int d) { return d >= 0; }) -
        m_descriptors.begin());
    if ((error == EINVAL || error == ENOSPC) && leader < index) {
        std::string beside;
        for (std::size_t i = leader; i < index; ++i) {
            beside += m_descriptors[i] >= 0 ? " " + m_wanted->kinds[i].name : "";
        }
        return "the hardware cannot count it together with" + beside +
               ": ask for fewer events at a time; perf_event_open: " + topology::errno_text(error);
    }
    return topology::no_event(m_wanted->root, "perf_event_open", error).reason;
}

std::string event_meter::fault(std::size_t index) const {
    if (m_is_opened && m_descriptors[index] < 0) {
        return open_fault(index);
    }
    return m_read_error == 0
               ? std::string()
               : topology::no_event(m_wanted->root, "reading the events", m_read_error).reason;
}

}  // namespace quern::trace::detail
