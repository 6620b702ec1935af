// SPDX-License-Identifier: BSL-1.0
// What the workers count (worker_stats.hpp) under the names that HPX gave it. In its terms t_func,
// the time of the scheduler's loop, is running + managing + idle here, and t_exec is running.
#include "built_in.hpp"
#include "pools_of.hpp"

#include <quern/scheduler/worker_stats.hpp>

#include <map>
#include <utility>

namespace quern::counters::detail {

namespace {

using number = double (*)(const worker_totals& of);

double tasks(const worker_totals& of) { return static_cast<double>(of.tasks); }
double phases(const worker_totals& of) { return static_cast<double>(of.activations); }
double body(const worker_totals& of) { return of.running_ns; }
double overhead(const worker_totals& of) { return of.managing_ns; }
double idle(const worker_totals& of) { return of.idle_ns; }
double loop(const worker_totals& of) { return of.total_ns(); }

/// A row: what is divided by what. Without a number, why there is none.
struct row {
    const char* name;
    number above;
    number below;
    double scale;
    const char* unit;
    const char* help;
    const char* missing = nullptr;  ///< of every place
    const char* missing_of_worker = nullptr;
};

constexpr const char* k_one_queue =
    "tasks that have not begun stand in the same queues as those that go on; see stolen-…-pending";
constexpr const char* k_no_stamps =
    "tasks carry no time stamps; the trace shows when each was made";

// clang-format off
constexpr row k_rows[] = {
    {"/threads/time/average", body, tasks, 1, "ns", "mean time in the body of a task"},
    {"/threads/time/average-phase", body, phases, 1, "ns", "mean time in the body of a task between two waits"},
    {"/threads/time/average-overhead", overhead, tasks, 1, "ns", "mean time of the scheduler for a task"},
    {"/threads/time/average-phase-overhead", overhead, phases, 1, "ns", "mean time of the scheduler for a piece of a task between two waits"},
    {"/threads/time/cumulative", body, nullptr, 1, "ns", "time in the bodies of tasks"},
    {"/threads/time/cumulative-overhead", overhead, nullptr, 1, "ns", "time of the scheduler: taking, stealing, switching, finishing tasks"},
    {"/threads/time/cumulative-idle", idle, nullptr, 1, "ns", "time without a task, searching or asleep"},
    {"/threads/time/overall", loop, nullptr, 1, "ns", "time of the workers: bodies, scheduler and idle time"},
    {"/threads/idle-rate", [](const worker_totals& of) { return of.managing_ns + of.idle_ns; }, loop, 1e4, "0.01 %", "part of the workers' time outside of tasks: overhead and starvation"},
    {"/threads/starvation-rate", idle, loop, 1e4, "0.01 %", "part of the workers' time in which they had nothing to do"},
    {"/threads/overhead-rate", overhead, loop, 1e4, "0.01 %", "part of the workers' time that the scheduler took"},
    {"/threads/count/cumulative", tasks, nullptr, 1, "", "tasks run to their end"},
    {"/threads/count/cumulative-phases", phases, nullptr, 1, "", "times a task was started or went on"},
    {"/threads/count/suspensions", [](const worker_totals& of) { return static_cast<double>(of.suspensions); }, nullptr, 1, "", "times a task gave up its worker to wait"},
    {"/threads/count/inlined", [](const worker_totals& of) { return static_cast<double>(of.inlined); }, nullptr, 1, "", "tasks run in the place of one who waited for them"},
    {"/threads/count/pending-accesses", [](const worker_totals& of) { return static_cast<double>(of.looks); }, nullptr, 1, "", "times a worker looked into its queues for a task"},
    {"/threads/count/pending-misses", [](const worker_totals& of) { return static_cast<double>(of.misses); }, nullptr, 1, "", "of these, times there was none"},
    {"/threads/count/stolen-from-pending", [](const worker_totals& of) { return static_cast<double>(of.stolen); }, nullptr, 1, "", "tasks that others took from the queues of these workers", nullptr, "a worker does not note what is taken from it; the total does"},
    {"/threads/count/stolen-to-pending", [](const worker_totals& of) { return static_cast<double>(of.stolen); }, nullptr, 1, "", "tasks that these workers took from the queues of others"},
    {"/threads/count/stolen-from-staged", nullptr, nullptr, 1, "", "tasks not yet begun that others took from these workers", k_one_queue},
    {"/threads/count/stolen-to-staged", nullptr, nullptr, 1, "", "tasks not yet begun that these workers took from others", k_one_queue},
    {"/threads/count/stack-recycles", [](const worker_totals& of) { return static_cast<double>(of.contexts_recycled); }, nullptr, 1, "", "stacks used again"},
    {"/threads/count/objects", [](const worker_totals& of) { return static_cast<double>(of.contexts_made); }, nullptr, 1, "", "stacks taken from the system"},
    {"/threads/count/parks", [](const worker_totals& of) { return static_cast<double>(of.parks); }, nullptr, 1, "", "times a worker went to sleep for want of work"},
    {"/threads/count/wakes", [](const worker_totals& of) { return static_cast<double>(of.wakes); }, nullptr, 1, "", "sleeping workers that were woken by these"},
    {"/threads/wait-time/pending", nullptr, nullptr, 1, "ns", "mean time from when a task could go on to when it did", k_no_stamps},
    {"/threads/wait-time/staged", nullptr, nullptr, 1, "ns", "mean time from when a task was made to when it began", k_no_stamps},
};
// clang-format on

class threads final : public source {
public:
    threads() {
        for (const row& each : k_rows) {
            const counter_kind kind =
                each.below != nullptr ? counter_kind::ratio : counter_kind::sum;
            m_infos.push_back({each.name, kind, each.unit, each.help, each.scale});
        }
    }

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        return std::move(read_all({&where, 1}).front());
    }

    /// Every worker once, so that totals are the sums of their workers.
    std::vector<std::vector<raw_reading>> read_all(std::span<const place> places) override {
        std::map<std::pair<const quern::detail::pool*, std::uint32_t>, worker_totals> read_already;
        std::vector<std::vector<raw_reading>> all;
        for (const place& where : places) {
            worker_totals sum;
            for_each_worker(where, [&](quern::detail::pool& home, std::uint32_t rank) {
                const auto [entry, is_new] = read_already.try_emplace({&home, rank});
                if (is_new) {
                    entry->second = home.at(rank).stats.read();
                }
                sum += entry->second;
            });
            all.push_back(readings_of(sum, where.worker.has_value()));
        }
        return all;
    }

private:
    static std::vector<raw_reading> readings_of(const worker_totals& sum, bool is_worker) {
        std::vector<raw_reading> readings;
        for (const row& each : k_rows) {
            raw_reading& one = readings.emplace_back();
            const char* const why = each.missing != nullptr ? each.missing
                                    : is_worker             ? each.missing_of_worker
                                                            : nullptr;
            if (why != nullptr) {
                one.state = source_state::absent;
                one.why = why;
                continue;
            }
            one.above = each.above(sum);
            one.below = each.below != nullptr ? each.below(sum) : 0.0;
        }
        return readings;
    }

    std::vector<counter_info> m_infos;
};

}  // namespace

std::unique_ptr<source> threads_source() { return std::make_unique<threads>(); }

}  // namespace quern::counters::detail
