// SPDX-License-Identifier: BSL-1.0
// How the kernel schedules the threads of workers: how long they ran and how long they were ready
// and waited for a processor. Waiting that grows beside running says that there are more threads
// than processors.
#include <quern/counters/system_threads.hpp>

#include "system_files.hpp"
#include "system_reading.hpp"

namespace quern::counters::detail {

namespace {

constexpr std::size_t k_numbers = 3;  // of a schedstat: run time, wait time, slices

class schedule_meter final : public thread_meter {
public:
    schedule_meter(const topology::system_root& root, pid_t thread)
        : m_root(root), m_path("/proc/self/task/" + std::to_string(thread) + "/schedstat") {}

    std::vector<raw_reading> read() override {
        const auto text = topology::read_text(m_root, m_path);
        if (!text) {
            const bool known = !m_last.empty() && state_of(text.error()) == source_state::absent;
            return known ? m_last  // the thread has ended
                         : all_alike(no_reading({text.reason(), text.error()}), k_numbers);
        }
        std::vector<raw_reading> readings;
        for (std::size_t i = 0; i < k_numbers; ++i) {
            const auto value = word_at(i)(*text);
            if (!value) {
                return all_alike(no_reading({m_root.resolve(m_path) + ": " + value.reason()}),
                                 k_numbers);
            }
            readings.push_back(reading_of(*value));
        }
        return m_last = readings;
    }

private:
    topology::system_root m_root;
    std::string m_path;
    std::vector<raw_reading> m_last;
};

}  // namespace

void add_schedule_source(source_list& all, const topology::system_root& root) {
    all.push_back(std::make_unique<per_thread_source>(
        std::vector<counter_info>{
            {"/os/schedule/run-time", counter_kind::sum, "ns",
             "time that workers' threads ran on a processor"},
            {"/os/schedule/wait-time", counter_kind::sum, "ns",
             "time that workers' threads were ready to run and waited for a processor"},
            {"/os/schedule/slices", counter_kind::sum, "",
             "how often workers' threads were given a processor"},
        },
        [root](pid_t thread) { return std::make_unique<schedule_meter>(root, thread); }));
}

}  // namespace quern::counters::detail
