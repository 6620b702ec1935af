// SPDX-License-Identifier: BSL-1.0
// The events of one thread, scaled where they were counted part of the time, and the list of the
// events that are offered.
#include <quern/counters/system_events.hpp>
#include <quern/counters/system_threads.hpp>

#include "system_reading.hpp"

#include <linux/perf_event.h>

#include <string>
#include <utility>

namespace quern::counters {

namespace {

using detail::no_reading;
using detail::reading_of;

/// Nanoseconds of counting after which an event of the hardware that is still 0 is taken for one
/// that is not counted: some virtual machines accept events and never count them. Every thread that
/// runs has cycles; misses may be rare. Guessed.
constexpr double k_no_cycles_ns = 1e6;
constexpr double k_nothing_ns = 100e6;

/// A failure in words, with what would change it.
raw_reading failure(const topology::system_root& root, const char* what, int error) {
    const source_state state = detail::state_of(error);
    std::string why = std::string(what) + ": " + topology::errno_text(error);
    if (state == source_state::absent) {
        why = "this machine, or its hypervisor, has no such event; " + why;
    } else {
        const std::string file = "/proc/sys/kernel/perf_event_paranoid";
        const auto paranoid = topology::read_word(root, file);
        why += paranoid ? "; " + root.resolve(file) + " is " + *paranoid : "";
    }
    return no_reading(state, std::move(why));
}

/// One event of one thread; a sum that never falls.
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

    /// Of the others of its group, or -1.
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
        if (now.counted == 0 && now.enabled > 0 && m_read_before) {
            return no_reading(source_state::stuck,
                              "never counted so far: other events hold the hardware's registers");
        }
        if (now.value == 0 && m_event.nothing_ns > 0 &&
            static_cast<double>(now.counted) >= m_event.nothing_ns) {
            return no_reading(source_state::stuck, "the machine accepts the event and counts none");
        }
        raw_reading reading = reading_of(m_sum);
        reading.begins = !std::exchange(m_read_before, true);
        return reading;
    }

private:
    /// While the event was not counted at all, the time is kept for the next reading.
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

/// The events of a source for one thread, the first of them the leader of the others.
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

/// Where there is no kernel to ask.
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

event_kind hardware(const char* name, std::uint64_t config, const char* help,
                    double nothing_ns = k_nothing_ns) {
    return {{std::string("/hw/") + name, counter_kind::sum, "", help},
            PERF_TYPE_HARDWARE,
            config,
            false,
            nothing_ns};
}

std::vector<std::vector<event_kind>> offered_events() {
    const event_kind task_clock{{"/os/schedule/task-clock", counter_kind::sum, "ns",
                                 "time that workers' threads ran, by the kernel's events"},
                                PERF_TYPE_SOFTWARE,
                                PERF_COUNT_SW_TASK_CLOCK};
    const event_kind migrations{{"/os/schedule/migrations", counter_kind::sum, "",
                                 "how often the kernel moved a worker's thread to another CPU"},
                                PERF_TYPE_SOFTWARE,
                                PERF_COUNT_SW_CPU_MIGRATIONS,
                                true};
    return {
        {hardware("cycles", PERF_COUNT_HW_CPU_CYCLES, "cycles of cores in user code",
                  k_no_cycles_ns),
         hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS,
                  "instructions of user code that were completed", k_no_cycles_ns)},
        {hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES,
                  "accesses to the last level of cache"),
         hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES,
                  "accesses that the last level of cache could not serve")},
        {hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches that were completed"),
         hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES,
                  "branches that were predicted wrongly")},
        {hardware("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
                  "cycles without an instruction to start")},
        {hardware("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
                  "cycles in which no instruction could start for want of data or units")},
        {task_clock},
        {migrations},
    };
}

}  // namespace

std::vector<std::unique_ptr<source>> event_sources(const topology::system_root& root,
                                                   const std::shared_ptr<event_kernel>& kernel) {
    std::vector<std::unique_ptr<source>> all;
    for (std::vector<event_kind>& group : offered_events()) {
        auto events = std::make_shared<const std::vector<event_kind>>(std::move(group));
        std::vector<counter_info> infos;
        for (const event_kind& event : *events) {
            infos.push_back(event.info);
        }
        all.push_back(std::make_unique<per_thread_source>(
            std::move(infos),
            [root, kernel, events](pid_t thread) -> std::unique_ptr<thread_meter> {
                if (kernel == nullptr) {
                    return std::make_unique<no_events>(events->size());
                }
                return std::make_unique<event_group>(root, kernel, events, thread);
            }));
    }
    return all;
}

}  // namespace quern::counters
