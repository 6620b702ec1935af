// SPDX-License-Identifier: BSL-1.0
// How many tasks there are at a moment and in which state, from the queues and the phases of the
// workers; and the age of the runtime. Read while the workers go on, so each number is right a
// moment ago, and numbers of different workers are of different moments.
#include "built_in.hpp"
#include "pools_of.hpp"
#include "tables.hpp"

#include <algorithm>
#include <iterator>

namespace quern::counters::detail {

namespace {

enum index : std::size_t {
    k_all,
    k_active,
    k_pending,
    k_suspended,
    k_staged,
    k_terminated,
    k_length,
    k_utilization,
    k_idle_loops,
    k_busy_loops,
    k_rows,
};

std::vector<counter_info> infos() {
    return {
        {"/threads/count/instantaneous/all", counter_kind::level, "",
         "tasks that run, are ready, or have begun and wait; one that is ready to go on counts "
         "twice"},
        {"/threads/count/instantaneous/active", counter_kind::level, "", "tasks that run"},
        {"/threads/count/instantaneous/pending", counter_kind::level, "",
         "tasks in queues: not begun, or ready to go on"},
        {"/threads/count/instantaneous/suspended", counter_kind::level, "",
         "tasks that have begun and do not run: they wait, or are ready to go on"},
        {"/threads/count/instantaneous/staged", counter_kind::level, "",
         "tasks in queues that have not begun"},
        {"/threads/count/instantaneous/terminated", counter_kind::level, "",
         "tasks that have ended and are kept"},
        {"/threadqueue/length", counter_kind::level, "", "tasks in queues"},
        {"/scheduler/utilization/instantaneous", counter_kind::level, "%",
         "part of the workers that run a task"},
        {"/threads/idle-loop-count/instantaneous", counter_kind::level, "",
         "times that workers without work have searched in vain since they had some"},
        {"/threads/busy-loop-count/instantaneous", counter_kind::level, "",
         "tasks begun or gone on with since their workers last had none"},
    };
}

struct moment {
    double workers = 0;
    double active = 0;
    double queued = 0;
    double suspended = 0;
    double idle_loops = 0;
    double busy_loops = 0;
};

double length_of(const quern::detail::worker_queues& queues) {
    return static_cast<double>(queues.deque.size() + queues.pending.size() + queues.staged.size() +
                               queues.inbox.size() + queues.pinned.size());
}

moment look(const place& where) {
    moment now;
    for_each_worker(where, [&now](quern::detail::pool& home, std::uint32_t rank) {
        const quern::detail::worker& each = home.at(rank);
        now.workers += 1;
        now.active += each.stats.phase() == worker_phase::running ? 1 : 0;
        now.queued += length_of(each.queues);
        now.idle_loops += static_cast<double>(each.searched_in_vain());
        now.busy_loops += static_cast<double>(each.begun_in_turn());
    });
    if (where.worker) {
        return now;
    }
    for (const pool_ref& each : pools_of(where)) {
        quern::detail::pool& home = each.get();
        now.queued += static_cast<double>(home.injector.size() + home.high.size() +
                                          home.low.size() + home.items_of_nodes());
        // A sum of numbers that do not belong together may be below 0 for a moment.
        now.suspended += static_cast<double>(
            std::max<std::int64_t>(static_cast<std::int64_t>(home.contexts_away()), 0));
    }
    return now;
}

class queues final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        const moment now = look(where);
        std::vector<raw_reading> readings(k_rows);
        readings[k_all].above = now.active + now.queued + now.suspended;
        readings[k_active].above = now.active;
        readings[k_pending].above = now.queued;
        readings[k_suspended].above = now.suspended;
        readings[k_length].above = now.queued;
        readings[k_utilization].above = now.workers > 0 ? 100 * now.active / now.workers : 0;
        readings[k_idle_loops].above = now.idle_loops;
        readings[k_busy_loops].above = now.busy_loops;
        if (!quern::detail::k_counters) {
            make_absent(readings[k_idle_loops], k_left_out);
            make_absent(readings[k_busy_loops], k_left_out);
        }
        make_absent(readings[k_staged],
                    "the same queues hold tasks not yet begun; they are counted as pending");
        make_absent(readings[k_terminated], "a task that has ended is not kept");
        if (where.worker) {
            const char* const why = "a task that waits belongs to no worker";
            make_absent(readings[k_suspended], why);
            make_absent(readings[k_all], why);
        }
        return readings;
    }

private:
    static void make_absent(raw_reading& one, const char* why) {
        one.state = source_state::absent;
        one.why = why;
    }

    const std::vector<counter_info> m_infos = infos();
};

class uptime final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place& where) override {
        std::vector<raw_reading> readings(1);
        for (const auto& each : all_living()) {
            if (each->which() == where.whole) {
                readings.front().above =
                    1e9 * each->seconds_until(std::chrono::steady_clock::now());
                return readings;
            }
        }
        readings.front().state = source_state::absent;
        readings.front().why = "the runtime is not known";
        return readings;
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/runtime/uptime", counter_kind::level, "ns", "time since the runtime started"}};
};

}  // namespace

std::unique_ptr<source> queues_source() { return std::make_unique<queues>(); }
std::unique_ptr<source> uptime_source() { return std::make_unique<uptime>(); }

}  // namespace quern::counters::detail
