// SPDX-License-Identifier: BSL-1.0
// The kernel's scheduling of worker threads: how long they ran, and how long they were ready and
// waited for a processor. Growing wait times indicate more threads than processors.
#include <quern/counters/system_threads.hpp>

#include "system/files.hpp"
#include "system/reading.hpp"

#include <quern/topology/detail/lost_time.hpp>

namespace quern::counters::detail {

namespace {

constexpr std::size_t k_numbers = 3;  // of schedstat: run time, wait time, slices

class schedule_meter final : public thread_meter {
public:
    schedule_meter(const topology::system_root& root, pid_t thread)
        : m_root(root), m_thread(thread) {}

    std::vector<raw_reading> read() override {
        const auto seen = topology::detail::read_thread_schedule(m_root, m_thread);
        if (!seen) {
            const bool known = !m_last.empty() && topology::means_absent(seen.error());
            return known ? m_last  // the thread has ended
                         : all_alike(no_reading({seen.reason(), seen.error()}), k_numbers);
        }
        return m_last = {reading_of(seen->run_ns), reading_of(seen->wait_ns),
                         reading_of(seen->slices)};
    }

private:
    topology::system_root m_root;
    pid_t m_thread;
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
