// SPDX-License-Identifier: BSL-1.0
// The workers' statistics (worker_stats.hpp) under HPX's names. HPX's t_func, the time of the
// scheduler's loop, is running + managing + idle here, and t_exec is running.
#include "core/pools_of.hpp"
#include "sources/built_in.hpp"
#include "system/reading.hpp"

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

/// Numerator and optional denominator, or why there is no value.
struct row {
    const char* name;
    counter_kind kind;
    const char* unit;
    const char* help;
    number above = nullptr;
    number below = nullptr;
    const char* missing = nullptr;
    const char* missing_of_worker = nullptr;
};

using t = worker_totals;

constexpr row sum(const char* name, number of, const char* unit, const char* help,
                  const char* missing_of_worker = nullptr) {
    return {name, counter_kind::sum, unit, help, of, nullptr, nullptr, missing_of_worker};
}
constexpr row mean(const char* name, number above, number below, const char* help) {
    return {name, counter_kind::ratio, "ns", help, above, below};
}
/// Of the time of the loop.
constexpr row share(const char* name, number of, const char* help) {
    return {name, counter_kind::ratio, "0.01 %", help, of, loop};
}
constexpr row absent(const char* name, counter_kind kind, const char* unit, const char* help,
                     const char* why) {
    return {name, kind, unit, help, nullptr, nullptr, why};
}

constexpr const char* k_one_queue =
    "the same queues hold tasks not yet begun; they are counted as pending";
constexpr const char* k_not_apart =
    "making and clearing away are timed with the rest of the scheduler's work: overhead-rate";

constexpr row k_rows[] = {
    mean("/threads/time/average", field<&t::running_ns>, field<&t::tasks>,
         "mean time in the body of a task"),
    mean("/threads/time/average-phase", field<&t::running_ns>, field<&t::activations>,
         "mean time in the body of a task between two waits"),
    mean("/threads/time/average-overhead", field<&t::managing_ns>, field<&t::tasks>,
         "mean time of the scheduler for a task"),
    mean("/threads/time/average-phase-overhead", field<&t::managing_ns>, field<&t::activations>,
         "mean time of the scheduler for a piece of a task between two waits"),
    sum("/threads/time/cumulative", field<&t::running_ns>, "ns", "time in the bodies of tasks"),
    sum("/threads/time/cumulative-overhead", field<&t::managing_ns>, "ns",
        "time of the scheduler: making, queueing, beginning, switching, settling tasks"),
    sum("/threads/time/cumulative-idle", field<&t::idle_ns>, "ns",
        "time without a task, searching or asleep"),
    sum("/threads/time/overall", loop, "ns",
        "time of the workers: bodies, scheduler and idle time"),
    share("/threads/idle-rate", not_body,
          "part of the workers' time outside of tasks: overhead and starvation"),
    share("/threads/starvation-rate", field<&t::idle_ns>,
          "part of the workers' time in which they had nothing to do"),
    share("/threads/overhead-rate", field<&t::managing_ns>,
          "part of the workers' time that the scheduler took"),
    absent("/threads/creation-idle-rate", counter_kind::ratio, "0.01 %",
           "part of the workers' time that making tasks took", k_not_apart),
    absent("/threads/cleanup-idle-rate", counter_kind::ratio, "0.01 %",
           "part of the workers' time that clearing tasks away took", k_not_apart),
    sum("/threads/count/cumulative", field<&t::tasks>, "", "tasks run to their end"),
    sum("/threads/count/cumulative-phases", field<&t::activations>, "",
        "times a task was started or went on"),
    sum("/threads/count/suspensions", field<&t::suspensions>, "",
        "times a task gave up its worker to wait"),
    sum("/threads/count/inlined", field<&t::inlined>, "",
        "tasks run in the place of one who waited for them"),
    sum("/threads/count/loops", field<&t::loops>, "", "parallel loops and algorithms that began"),
    sum("/threads/count/chunks", field<&t::chunks>, "", "pieces of loops that were run"),
    sum("/threads/count/scopes", field<&t::scopes>, "", "scopes that began"),
    sum("/threads/count/stolen-forks", field<&t::stolen_forks>, "",
        "tasks that were forked children of other workers"),
    sum("/threads/count/pending-accesses", field<&t::looks>, "",
        "times a worker looked into its queues for a task"),
    sum("/threads/count/pending-misses", field<&t::misses>, "",
        "times a worker looked into its queues and found no task"),
    sum("/threads/count/stolen-from-pending", field<&t::stolen>, "",
        "tasks that others took from the queues of these workers",
        "a worker does not note what is taken from it; the total does"),
    sum("/threads/count/stolen-to-pending", field<&t::stolen>, "",
        "tasks that these workers took from the queues of others"),
    absent("/threads/count/stolen-from-staged", counter_kind::sum, "",
           "tasks not yet begun that others took from these workers", k_one_queue),
    absent("/threads/count/stolen-to-staged", counter_kind::sum, "",
           "tasks not yet begun that these workers took from others", k_one_queue),
    sum("/threads/count/stack-recycles", field<&t::contexts_recycled>, "", "stacks used again"),
    absent("/threads/count/stack-unbinds", counter_kind::sum, "",
           "stacks whose memory was given back to the system",
           "stacks keep their memory: none is given back before the process ends"),
    sum("/threads/count/objects", field<&t::contexts_made>, "", "stacks taken from the system"),
    sum("/threads/count/parks", field<&t::parks>, "",
        "times a worker went to sleep for want of work"),
    sum("/threads/count/wakes", field<&t::wakes>, "", "sleeping workers that were woken by these"),
    mean("/threads/wait-time/pending", field<&t::waited_ns>, field<&t::waits>,
         "mean time from when a task could begin or go on to when it did; of one in 67"),
    mean("/threads/wait-time/staged", field<&t::first_waited_ns>, field<&t::first_waits>,
         "mean time from when a task was put into a queue to when it began; of one in 67"),
};

class threads final : public source {
public:
    threads() {
        for (const row& each : k_rows) {
            const double scale = each.below == loop ? 1e4 : 1;
            m_infos.push_back({each.name, each.kind, each.unit, each.help, scale});
        }
    }

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        return std::move(read_all({&where, 1}).front());
    }

    /// Reads every worker once, so that totals are the sums of their workers.
    std::vector<std::vector<raw_reading>> read_all(std::span<const place> places) override {
        std::map<std::pair<const quern::detail::pool*, std::uint32_t>, worker_totals> read_already;
        std::vector<std::vector<raw_reading>> all;
        for (const place& where : places) {
            worker_totals sum;
            for_each_worker(where, [&](quern::detail::pool& home, std::uint32_t rank) {
                const auto [entry, is_new] = read_already.try_emplace({&home, rank});
                if (is_new) {
                    entry->second = home.at(rank).stats().read();
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
            const char* const why = !quern::detail::k_counters ? k_left_out
                                    : each.missing != nullptr  ? each.missing
                                    : is_worker                ? each.missing_of_worker
                                                               : nullptr;
            raw_reading& one = readings.emplace_back();
            if (why != nullptr) {
                one = no_reading(source_state::absent, why);
            } else {
                one.above = each.above(sum);
                one.below = each.below != nullptr ? each.below(sum) : 0.0;
            }
        }
        return readings;
    }

    std::vector<counter_info> m_infos;
};

}  // namespace

std::unique_ptr<source> threads_source() { return std::make_unique<threads>(); }

}  // namespace quern::counters::detail
