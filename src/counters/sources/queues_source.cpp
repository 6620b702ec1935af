// SPDX-License-Identifier: BSL-1.0
// The present number of tasks by state, from the queues and the phases of the workers; and the age
// of the runtime. The workers keep running during a reading, so the numbers are slightly out of
// date, and those of different workers are from different moments.
#include "core/pools_of.hpp"
#include "core/tables.hpp"
#include "sources/built_in.hpp"
#include "system/reading.hpp"

#include <algorithm>

namespace quern::counters::detail {

namespace {

struct moment {
    double workers = 0;
    double active = 0;
    double queued = 0;
    double suspended = 0;
    double idle_loops = 0;
    double busy_loops = 0;
};

moment look(const place& where) {
    moment now;
    for_each_worker(where, [&now](quern::detail::pool& home, std::uint32_t rank) {
        const quern::detail::worker_shared& each = home.at(rank);
        now.workers += 1;
        now.active += each.stats().phase() == worker_phase::running ? 1 : 0;
        now.queued += static_cast<double>(each.queued());
        now.idle_loops += static_cast<double>(each.searched_in_vain());
        now.busy_loops += static_cast<double>(each.begun_in_turn());
    });
    if (where.worker) {
        return now;
    }
    for (const pool_ref& each : pools_of(where)) {
        quern::detail::pool& home = each.get();
        now.queued += static_cast<double>(home.injector().size() + home.queued_by_policy());
        // The sum of inconsistent numbers may be below 0 for a moment.
        now.suspended += static_cast<double>(
            std::max<std::int64_t>(static_cast<std::int64_t>(home.contexts_away()), 0));
    }
    return now;
}

/// A value, or why there is none; where it is a level of a pool, none of a worker.
struct row {
    const char* name;
    const char* unit;
    const char* help;
    double (*value)(const moment& now);
    const char* missing = nullptr;
    const char* missing_of_worker = nullptr;
};

constexpr const char* k_of_no_worker = "a task that waits belongs to no worker";
constexpr const char* k_not_built_in = quern::detail::k_counters ? nullptr : k_left_out;
constexpr double k_percent = 100;

constexpr row k_rows[] = {
    {"/threads/count/instantaneous/all", "",
     "tasks that run, are ready, or have begun and wait; one that is ready to go on counts twice",
     [](const moment& now) { return now.active + now.queued + now.suspended; }, nullptr,
     k_of_no_worker},
    {"/threads/count/instantaneous/active", "", "tasks that run",
     [](const moment& now) { return now.active; }},
    {"/threads/count/instantaneous/pending", "", "tasks in queues: not begun, or ready to go on",
     [](const moment& now) { return now.queued; }},
    {"/threads/count/instantaneous/suspended", "",
     "tasks that have begun and do not run: they wait, or are ready to go on",
     [](const moment& now) { return now.suspended; }, nullptr, k_of_no_worker},
    {"/threads/count/instantaneous/staged", "", "tasks in queues that have not begun", nullptr,
     "the same queues hold tasks not yet begun; they are counted as pending"},
    {"/threads/count/instantaneous/terminated", "", "tasks that have ended and are kept", nullptr,
     "a task that has ended is not kept"},
    {"/threadqueue/length", "", "tasks in queues", [](const moment& now) { return now.queued; }},
    {"/scheduler/utilization/instantaneous", "%", "part of the workers that run a task",
     [](const moment& now) { return now.workers > 0 ? k_percent * now.active / now.workers : 0; }},
    {"/threads/idle-loop-count/instantaneous", "",
     "times that workers without work have searched in vain since they had some",
     [](const moment& now) { return now.idle_loops; }, k_not_built_in},
    {"/threads/busy-loop-count/instantaneous", "",
     "tasks begun or gone on with since their workers last had none",
     [](const moment& now) { return now.busy_loops; }, k_not_built_in},
};

class queues final : public source {
public:
    queues() {
        for (const row& each : k_rows) {
            m_infos.push_back({each.name, counter_kind::level, each.unit, each.help});
        }
    }

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        const moment now = look(where);
        std::vector<raw_reading> readings;
        for (const row& each : k_rows) {
            const char* const why = each.missing != nullptr ? each.missing
                                    : where.worker          ? each.missing_of_worker
                                                            : nullptr;
            readings.push_back(why != nullptr ? no_reading(source_state::absent, why)
                                              : reading_of(each.value(now)));
        }
        return readings;
    }

private:
    std::vector<counter_info> m_infos;
};

class uptime final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place& where) override {
        for (const auto& each : all_living()) {
            if (each->which() == where.whole) {
                return {reading_of(1e9 * each->seconds_until(std::chrono::steady_clock::now()))};
            }
        }
        return {no_reading(source_state::absent, "the runtime is not known")};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/runtime/uptime", counter_kind::level, "ns", "time since the runtime started"}};
};

}  // namespace

std::unique_ptr<source> queues_source() { return std::make_unique<queues>(); }
std::unique_ptr<source> uptime_source() { return std::make_unique<uptime>(); }

}  // namespace quern::counters::detail
