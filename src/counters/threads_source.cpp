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

template <auto Field>
double field(const worker_totals& of) {
    return static_cast<double>(of.*Field);
}

double loop(const worker_totals& of) { return of.total_ns(); }
double not_body(const worker_totals& of) { return of.managing_ns + of.idle_ns; }

/// What is counted, divided by what if by anything; or why there is no number.
struct row {
    const char* name;
    number above = nullptr;
    number below = nullptr;
    double scale = 1;
    const char* unit = "";
    const char* help;
    const char* missing = nullptr;
    const char* missing_of_worker = nullptr;
};

constexpr const char* k_one_queue =
    "the same queues hold tasks not yet begun; they are counted as pending";
constexpr const char* k_not_apart =
    "making and clearing away are timed with the rest of the scheduler's work: overhead-rate";

constexpr row k_rows[] = {
    {.name = "/threads/time/average",
     .above = field<&worker_totals::running_ns>,
     .below = field<&worker_totals::tasks>,
     .unit = "ns",
     .help = "mean time in the body of a task"},
    {.name = "/threads/time/average-phase",
     .above = field<&worker_totals::running_ns>,
     .below = field<&worker_totals::activations>,
     .unit = "ns",
     .help = "mean time in the body of a task between two waits"},
    {.name = "/threads/time/average-overhead",
     .above = field<&worker_totals::managing_ns>,
     .below = field<&worker_totals::tasks>,
     .unit = "ns",
     .help = "mean time of the scheduler for a task"},
    {.name = "/threads/time/average-phase-overhead",
     .above = field<&worker_totals::managing_ns>,
     .below = field<&worker_totals::activations>,
     .unit = "ns",
     .help = "mean time of the scheduler for a piece of a task between two waits"},
    {.name = "/threads/time/cumulative",
     .above = field<&worker_totals::running_ns>,
     .unit = "ns",
     .help = "time in the bodies of tasks"},
    {.name = "/threads/time/cumulative-overhead",
     .above = field<&worker_totals::managing_ns>,
     .unit = "ns",
     .help = "time of the scheduler: making, queueing, beginning, switching, settling tasks"},
    {.name = "/threads/time/cumulative-idle",
     .above = field<&worker_totals::idle_ns>,
     .unit = "ns",
     .help = "time without a task, searching or asleep"},
    {.name = "/threads/time/overall",
     .above = loop,
     .unit = "ns",
     .help = "time of the workers: bodies, scheduler and idle time"},
    {.name = "/threads/idle-rate",
     .above = not_body,
     .below = loop,
     .scale = 1e4,
     .unit = "0.01 %",
     .help = "part of the workers' time outside of tasks: overhead and starvation"},
    {.name = "/threads/starvation-rate",
     .above = field<&worker_totals::idle_ns>,
     .below = loop,
     .scale = 1e4,
     .unit = "0.01 %",
     .help = "part of the workers' time in which they had nothing to do"},
    {.name = "/threads/overhead-rate",
     .above = field<&worker_totals::managing_ns>,
     .below = loop,
     .scale = 1e4,
     .unit = "0.01 %",
     .help = "part of the workers' time that the scheduler took"},
    {.name = "/threads/creation-idle-rate",
     .below = loop,
     .unit = "0.01 %",
     .help = "part of the workers' time that making tasks took",
     .missing = k_not_apart},
    {.name = "/threads/cleanup-idle-rate",
     .below = loop,
     .unit = "0.01 %",
     .help = "part of the workers' time that clearing tasks away took",
     .missing = k_not_apart},
    {.name = "/threads/count/cumulative",
     .above = field<&worker_totals::tasks>,
     .help = "tasks run to their end"},
    {.name = "/threads/count/cumulative-phases",
     .above = field<&worker_totals::activations>,
     .help = "times a task was started or went on"},
    {.name = "/threads/count/suspensions",
     .above = field<&worker_totals::suspensions>,
     .help = "times a task gave up its worker to wait"},
    {.name = "/threads/count/inlined",
     .above = field<&worker_totals::inlined>,
     .help = "tasks run in the place of one who waited for them"},
    {.name = "/threads/count/pending-accesses",
     .above = field<&worker_totals::looks>,
     .help = "times a worker looked into its queues for a task"},
    {.name = "/threads/count/pending-misses",
     .above = field<&worker_totals::misses>,
     .help = "times a worker looked into its queues and found no task"},
    {.name = "/threads/count/stolen-from-pending",
     .above = field<&worker_totals::stolen>,
     .help = "tasks that others took from the queues of these workers",
     .missing_of_worker = "a worker does not note what is taken from it; the total does"},
    {.name = "/threads/count/stolen-to-pending",
     .above = field<&worker_totals::stolen>,
     .help = "tasks that these workers took from the queues of others"},
    {.name = "/threads/count/stolen-from-staged",
     .help = "tasks not yet begun that others took from these workers",
     .missing = k_one_queue},
    {.name = "/threads/count/stolen-to-staged",
     .help = "tasks not yet begun that these workers took from others",
     .missing = k_one_queue},
    {.name = "/threads/count/stack-recycles",
     .above = field<&worker_totals::contexts_recycled>,
     .help = "stacks used again"},
    {.name = "/threads/count/stack-unbinds",
     .help = "stacks whose memory was given back to the system",
     .missing = "stacks keep their memory: none is given back before the process ends"},
    {.name = "/threads/count/objects",
     .above = field<&worker_totals::contexts_made>,
     .help = "stacks taken from the system"},
    {.name = "/threads/count/parks",
     .above = field<&worker_totals::parks>,
     .help = "times a worker went to sleep for want of work"},
    {.name = "/threads/count/wakes",
     .above = field<&worker_totals::wakes>,
     .help = "sleeping workers that were woken by these"},
    {.name = "/threads/wait-time/pending",
     .above = field<&worker_totals::waited_ns>,
     .below = field<&worker_totals::waits>,
     .unit = "ns",
     .help = "mean time from when a task could begin or go on to when it did; of one in 67"},
    {.name = "/threads/wait-time/staged",
     .above = field<&worker_totals::first_waited_ns>,
     .below = field<&worker_totals::first_waits>,
     .unit = "ns",
     .help = "mean time from when a task was put into a queue to when it began; of one in 67"},
};

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
            const char* const why = !quern::detail::k_counters ? k_left_out
                                    : each.missing != nullptr  ? each.missing
                                    : is_worker                ? each.missing_of_worker
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
