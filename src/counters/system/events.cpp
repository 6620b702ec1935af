// SPDX-License-Identifier: BSL-1.0
// The events of one thread, scaled if counted part of the time, and the grouping of events into
// counters.
#include <quern/counters/system_events.hpp>
#include <quern/counters/system_threads.hpp>

#include "system/reading.hpp"

#include <linux/perf_event.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace quern::counters {

namespace {

using detail::no_reading;
using detail::reading_of;
using topology::event_kernel;
using topology::event_kind;

raw_reading failure(const topology::system_root& root, const char* what, int error) {
    return no_reading(topology::no_event(root, what, error));
}

/// One event of one thread; a sum that never decreases.
class event_meter {
public:
    event_meter(std::shared_ptr<event_kernel> kernel, const event_kind& event, pid_t thread,
                int leader)
        : m_kernel(std::move(kernel)), m_event(event) {
        m_descriptor = m_kernel->open(event, thread, leader);
        if (m_descriptor == -EINVAL && leader >= 0) {
            m_descriptor = m_kernel->open(event, thread, -1);  // too many for one group
        }
    }
    event_meter(const event_meter&) = delete;
    event_meter& operator=(const event_meter&) = delete;
    ~event_meter() {
        if (m_descriptor >= 0) {
            m_kernel->close(m_descriptor);
        }
    }

    /// The leader descriptor for the others of its group, or -1.
    int as_leader() const noexcept { return m_descriptor >= 0 ? m_descriptor : -1; }

    raw_reading read(const topology::system_root& root) {
        if (m_descriptor < 0) {
            return failure(root, "perf_event_open", -m_descriptor);
        }
        event_kernel::count now;
        if (const int error = m_kernel->read(m_descriptor, now)) {
            return failure(root, "reading the event", error);
        }
        advance(now);
        std::string nothing = topology::why_nothing(m_event, now);
        if (!nothing.empty() && (now.counted != 0 || m_read_before)) {
            return no_reading(source_state::stuck, std::move(nothing));
        }
        raw_reading reading = reading_of(m_sum);
        reading.begins = !std::exchange(m_read_before, true);
        return reading;
    }

private:
    /// If the event was not counted at all, the time is kept for the next reading.
    void advance(const event_kernel::count& now) {
        if (now.counted <= m_last.counted) {
            return;
        }
        const auto value = static_cast<double>(now.value - m_last.value);
        const auto enabled = static_cast<double>(now.enabled - m_last.enabled);
        const auto counted = static_cast<double>(now.counted - m_last.counted);
        m_sum += value * (enabled / counted);
        m_last = now;
    }

    std::shared_ptr<event_kernel> m_kernel;
    const event_kind& m_event;
    int m_descriptor = -1;
    bool m_read_before = false;
    event_kernel::count m_last;
    double m_sum = 0;
};

/// The events of a source for one thread; the first is the group leader.
class event_group final : public thread_meter {
public:
    event_group(const topology::system_root& root, const std::shared_ptr<event_kernel>& kernel,
                std::shared_ptr<const std::vector<event_kind>> events, pid_t thread)
        : m_root(root), m_events(std::move(events)) {
        for (const event_kind& event : *m_events) {
            const int leader = m_meters.empty() ? -1 : m_meters.front()->as_leader();
            m_meters.push_back(std::make_unique<event_meter>(kernel, event, thread, leader));
        }
    }

    std::vector<raw_reading> read() override {
        std::vector<raw_reading> readings;
        for (const auto& meter : m_meters) {
            readings.push_back(meter->read(m_root));
        }
        return readings;
    }

private:
    topology::system_root m_root;
    std::shared_ptr<const std::vector<event_kind>> m_events;
    std::vector<std::unique_ptr<event_meter>> m_meters;
};

/// For a null kernel.
class no_events final : public thread_meter {
public:
    explicit no_events(std::size_t count) : m_count(count) {}

    std::vector<raw_reading> read() override {
        return detail::all_alike(
            no_reading(source_state::absent,
                       "the system call perf_event_open counts it, and no file shows it"),
            m_count);
    }

private:
    std::size_t m_count;
};

/// Events counted together.
constexpr std::array<std::array<std::string_view, 2>, 7> k_pairs{{
    {"cycles", "instructions"},
    {"cache-references", "cache-misses"},
    {"branches", "branch-misses"},
    {"stalled-cycles-frontend"},
    {"stalled-cycles-backend"},
    {"task-clock"},
    {"cpu-migrations"},
}};

/// Hardware events are "/hw/…", the kernel's software events "/os/schedule/…".
std::string counter_of(const event_kind& event) {
    if (event.type != PERF_TYPE_SOFTWARE) {
        return "/hw/" + event.name;
    }
    return event.name == "cpu-migrations" ? "/os/schedule/migrations"
                                          : "/os/schedule/" + event.name;
}

std::unique_ptr<source> source_of(const topology::system_root& root,
                                  const std::shared_ptr<event_kernel>& kernel,
                                  std::vector<event_kind> group) {
    auto events = std::make_shared<const std::vector<event_kind>>(std::move(group));
    std::vector<counter_info> infos;
    for (const event_kind& each : *events) {
        infos.push_back({counter_of(each), counter_kind::sum, each.unit, each.help});
    }
    return std::make_unique<per_thread_source>(
        std::move(infos), [root, kernel, events](pid_t thread) -> std::unique_ptr<thread_meter> {
            if (kernel == nullptr) {
                return std::make_unique<no_events>(events->size());
            }
            return std::make_unique<event_group>(root, kernel, events, thread);
        });
}

}  // namespace

std::vector<std::unique_ptr<source>> event_sources(const topology::system_root& root,
                                                   const std::shared_ptr<event_kernel>& kernel) {
    std::vector<std::unique_ptr<source>> all;
    for (const auto& pair : k_pairs) {
        std::vector<event_kind> group;
        for (const std::string_view name : pair) {
            if (!name.empty()) {
                group.push_back(*topology::find_event(name));
            }
        }
        all.push_back(source_of(root, kernel, std::move(group)));
    }
    return all;
}

std::unique_ptr<source> raw_event_source(const topology::system_root& root,
                                         const std::shared_ptr<event_kernel>& kernel,
                                         std::string_view counter) {
    constexpr std::string_view k_hardware = "/hw/";
    if (!counter.starts_with(k_hardware)) {
        return nullptr;
    }
    const auto event = topology::find_event(counter.substr(k_hardware.size()));
    return event && event->type == PERF_TYPE_RAW ? source_of(root, kernel, {*event}) : nullptr;
}

}  // namespace quern::counters
