// SPDX-License-Identifier: BSL-1.0
// Makes frames from snapshots, and writes frames as JSON.
#include "top/frame.hpp"

#include <quern/base/detail/json.hpp>
#include <quern/scheduler/detail/blocked_time.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

namespace quern::tool {

namespace {

using quern::detail::json;

/// What the rates come from, summed over workers.
struct sums {
    double running_ns = 0;
    double managing_ns = 0;
    double idle_ns = 0;
    double blocked_ns = 0;
    double lost_ns = 0;
    double ran_ns = 0;
    double asleep_ns = 0;
    double guest_ns = 0;
    double tasks = 0;
    double chunks = 0;
    double loops = 0;
    double scopes = 0;
    double stolen = 0;
    double suspensions = 0;

    explicit sums(const json_value& worker);
    sums() = default;

    sums& add(const sums& other, double sign);
    worker_totals totals() const {
        return {.running_ns = running_ns,
                .managing_ns = managing_ns,
                .idle_ns = idle_ns,
                .asleep_ns = asleep_ns,
                .guest_ns = guest_ns};
    }
};

/// With its name in the answers of a program.
constexpr std::pair<const char*, double sums::*> k_parts[] = {
    {"running_ns", &sums::running_ns}, {"managing_ns", &sums::managing_ns},
    {"idle_ns", &sums::idle_ns},       {"blocked_ns", &sums::blocked_ns},
    {"lost_ns", &sums::lost_ns},       {"ran_ns", &sums::ran_ns},
    {"asleep_ns", &sums::asleep_ns},   {"guest_ns", &sums::guest_ns},
    {"tasks", &sums::tasks},           {"chunks", &sums::chunks},
    {"loops", &sums::loops},           {"scopes", &sums::scopes},
    {"stolen", &sums::stolen},         {"suspensions", &sums::suspensions}};

sums::sums(const json_value& worker) {
    for (const auto& [name, part] : k_parts) {
        this->*part = worker.value(name, 0.0);
    }
}

sums& sums::add(const sums& other, double sign) {
    for (const auto& [name, part] : k_parts) {
        this->*part += sign * (other.*part);
    }
    return *this;
}

top_rates rates_of(const sums& since, double seconds) {
    top_rates rates;
    const double total = since.running_ns + since.managing_ns + since.idle_ns;
    if (total > 0) {
        const double blocked = std::clamp(since.blocked_ns, 0.0, since.running_ns);
        const quern::detail::time_parts left = quern::detail::without_losses(
            {.in_tasks_ns = since.running_ns - blocked,
             .managing_ns = since.managing_ns,
             .idle_ns = since.idle_ns},
            quern::detail::lost_in(since.totals(), {since.lost_ns, since.ran_ns}));
        rates.blocked = blocked / total;
        rates.running = left.in_tasks_ns / total;
        rates.overhead = left.managing_ns / total;
        rates.lost = left.lost_ns / total;
        rates.idle = left.idle_ns / total;
    }
    if (since.tasks > 0) {
        rates.ns_per_task = since.running_ns / since.tasks;
    }
    if (seconds > 0) {
        rates.tasks_per_s = std::max(since.tasks, 0.0) / seconds;
        rates.chunks_per_s = std::max(since.chunks, 0.0) / seconds;
        rates.loops_per_s = std::max(since.loops, 0.0) / seconds;
        rates.scopes_per_s = std::max(since.scopes, 0.0) / seconds;
        rates.stolen_per_s = std::max(since.stolen, 0.0) / seconds;
        rates.suspensions_per_s = std::max(since.suspensions, 0.0) / seconds;
    }
    return rates;
}

/// The worker of the same thread in another snapshot, or null.
const json_value& same_worker(const json_value& snapshot, double thread) {
    static const json_value k_nothing = json_value::object();
    for (const json_value& runtime : items_of(snapshot, "runtimes")) {
        for (const json_value& pool : items_of(runtime, "pools")) {
            for (const json_value& worker : items_of(pool, "workers")) {
                if (worker.value("thread", 0.0) == thread) {
                    return worker;
                }
            }
        }
    }
    return k_nothing;
}

top_pool pool_of(const json_value& before, const json_value& now, double seconds) {
    top_pool pool;
    pool.name = now.value("name", "");
    pool.policy = now.value("policy", "");
    pool.active_workers = now.value("active_workers", unsigned{});
    pool.queued = now.value("queued", std::uint64_t{});
    pool.suspended = now.value("suspended", std::uint64_t{});
    sums of_all;
    for (const json_value& each : items_of(now, "workers")) {
        sums since(each);
        since.add(sums(same_worker(before, each.value("thread", 0.0))), -1);
        of_all.add(since, 1);
        top_worker& worker = pool.workers.emplace_back();
        worker.rank = each.value("rank", unsigned{});
        worker.phase = each.value("phase", "");
        worker.queued = each.value("queued", std::uint64_t{});
        worker.rates = rates_of(since, seconds);
        worker.runs = what_runs(each.value("task", ""), each.value("place", ""));
        pool.queued += worker.queued;
    }
    pool.rates = rates_of(of_all, seconds);
    return pool;
}

/// As the kernel counts memory.
std::uint64_t resident_bytes(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/statm";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                               std::fclose);
    unsigned long all = 0;
    unsigned long resident = 0;
    if (file == nullptr || std::fscanf(file.get(), "%lu %lu", &all, &resident) != 2) {
        return 0;
    }
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void add_rates(json& out, const top_rates& rates) {
    out.fields("tasks_per_s", rates.tasks_per_s, "ns_per_task", rates.ns_per_task, "running",
               rates.running, "overhead", rates.overhead, "blocked", rates.blocked, "lost",
               rates.lost, "idle", rates.idle);
    out.fields("chunks_per_s", rates.chunks_per_s, "loops_per_s", rates.loops_per_s, "scopes_per_s",
               rates.scopes_per_s);
    out.fields("stolen_per_s", rates.stolen_per_s, "suspensions_per_s", rates.suspensions_per_s);
}

void add_worker(json& out, const top_worker& worker) {
    out.open('{').fields("rank", worker.rank, "phase", worker.phase, "queued", worker.queued);
    add_rates(out, worker.rates);
    if (!worker.runs.empty()) {
        out.field("runs", worker.runs);
    }
    out.close();
}

}  // namespace

std::string what_runs(const std::string& name, const std::string& place) {
    // "task in" is completed by the place.
    const char* const between = name.ends_with(" in") ? " " : ": ";
    return name.empty() || place.empty() ? name + place : name + between + place;
}

top_frame make_frame(const json_value& before, const json_value& now) {
    top_frame frame;
    frame.pid = now.value("pid", pid_t{});
    frame.program = now.value("program", "");
    frame.version = now.value("version", "");
    frame.uptime_s = now.value("seconds", 0.0);
    frame.interval_s = 1e-9 * (now.value("time_ns", 0.0) - before.value("time_ns", 0.0));
    frame.resident_bytes = resident_bytes(frame.pid);
    for (const json_value& runtime : items_of(now, "runtimes")) {
        for (const json_value& pool : items_of(runtime, "pools")) {
            frame.pools.push_back(pool_of(before, pool, frame.interval_s));
        }
    }
    return frame;
}

double order_of(top_order order, int rank, const top_rates& rates, std::uint64_t queued) {
    switch (order) {
        case top_order::tasks:
            return -rates.tasks_per_s;
        case top_order::overhead:
            return -rates.overhead;
        case top_order::idle:
            return -rates.idle;
        case top_order::queued:
            return -static_cast<double>(queued);
        case top_order::rank:
            break;
    }
    return rank;
}

void sort_workers(top_frame& frame, top_order order) {
    const auto key = [order](const top_worker& w) {
        return order_of(order, static_cast<int>(w.rank), w.rates, w.queued);
    };
    for (top_pool& pool : frame.pools) {
        std::stable_sort(
            pool.workers.begin(), pool.workers.end(),
            [&key](const top_worker& a, const top_worker& b) { return key(a) < key(b); });
    }
}

void add_frame(json& out, const top_frame& frame) {
    out.fields("pid", frame.pid, "program", frame.program, "version", frame.version, "uptime_s",
               frame.uptime_s, "interval_s", frame.interval_s, "resident_bytes",
               frame.resident_bytes, "power_watts", frame.watts);
    if (!frame.watts) {
        out.field("power_unavailable", frame.no_power);
    }
    out.open('[', "pools");
    for (const top_pool& pool : frame.pools) {
        out.open('{').fields("name", pool.name, "policy", pool.policy, "active_workers",
                             pool.active_workers, "queued", pool.queued, "suspended",
                             pool.suspended);
        add_rates(out, pool.rates);
        out.open('[', "workers");
        for (const top_worker& worker : pool.workers) {
            add_worker(out, worker);
        }
        out.close().close();
    }
    out.close().open('[', "sites");
    for (const top_site& site : frame.sites) {
        out.open('{').fields("name", site.name, "place", site.place, "share", site.share).close();
    }
    out.close().open('[', "decisions");
    for (const top_decision& each : frame.decisions) {
        out.open('{').fields("time_ns", each.time_ns, "text", each.text).close();
    }
    out.close();
}

std::string frame_as_json(const top_frame& frame) {
    json out(json::layout::indented);
    out.open('{');
    add_frame(out, frame);
    return out.take();
}

}  // namespace quern::tool
