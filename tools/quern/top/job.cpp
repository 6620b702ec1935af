// SPDX-License-Identifier: BSL-1.0
// Watches the ranks of a job, adds up what each did, and shows it.
#include "top/job.hpp"

#include "top/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace quern::tool {

namespace {

using quern::detail::json;

/// Rates of pools or ranks together. Shares count by workers.
class rates_of_all {
public:
    void add(const top_rates& rates, unsigned workers) {
        m_workers += workers;
        for (const auto part : k_shares) {
            m_sum.*part += workers * (rates.*part);
        }
        for (const auto part : k_per_second) {
            m_sum.*part += rates.*part;
        }
        m_task_ns += rates.ns_per_task.value_or(0) * rates.tasks_per_s;
    }
    top_rates rates() const {
        top_rates all = m_sum;
        for (const auto part : k_shares) {
            all.*part /= std::max(m_workers, 1U);
        }
        if (all.tasks_per_s > 0) {
            all.ns_per_task = m_task_ns / all.tasks_per_s;
        }
        return all;
    }

private:
    static constexpr double top_rates::*k_shares[] = {&top_rates::running, &top_rates::blocked,
                                                      &top_rates::lost, &top_rates::overhead,
                                                      &top_rates::idle};
    static constexpr double top_rates::*k_per_second[] = {
        &top_rates::tasks_per_s,  &top_rates::chunks_per_s, &top_rates::loops_per_s,
        &top_rates::scopes_per_s, &top_rates::stolen_per_s, &top_rates::suspensions_per_s};

    top_rates m_sum{};
    double m_task_ns = 0;  ///< in a second
    unsigned m_workers = 0;
};

top_rank sum_of(const std::vector<top_rank>& ranks) {
    top_rank all;
    rates_of_all rates;
    for (const top_rank& each : ranks) {
        rates.add(each.rates, each.workers);
        all.workers += each.workers;
        all.active_workers += each.active_workers;
        all.queued += each.queued;
        all.suspended += each.suspended;
        all.frame.resident_bytes += each.frame.resident_bytes;
    }
    all.rates = rates.rates();
    return all;
}

/// Of the workers of all ranks, the largest first.
std::vector<top_site> sites_of(const std::vector<top_rank>& ranks, unsigned workers) {
    std::map<std::pair<std::string, std::string>, double> by_name;
    for (const top_rank& each : ranks) {
        for (const top_site& site : each.frame.sites) {
            by_name[{site.name, site.place}] += site.share * each.workers / std::max(workers, 1U);
        }
    }
    std::vector<top_site> sites;
    sites.reserve(by_name.size());
    for (const auto& [name, part] : by_name) {
        sites.push_back({name.first, name.second, part});
    }
    std::stable_sort(sites.begin(), sites.end(),
                     [](const top_site& a, const top_site& b) { return a.share > b.share; });
    return sites;
}

/// The newest five of all ranks, whose times count from the beginning of each.
std::vector<top_decision> decisions_of(const std::vector<top_rank>& ranks) {
    constexpr std::ptrdiff_t k_most = 5;
    std::vector<top_decision> all;
    for (const top_rank& each : ranks) {
        for (const top_decision& one : each.frame.decisions) {
            all.push_back({one.time_ns, fmt::format("rank {}: {}", each.rank, one.text)});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const top_decision& a, const top_decision& b) {
        return a.time_ns < b.time_ns;
    });
    all.erase(all.begin(), all.end() - std::min(std::ssize(all), k_most));
    return all;
}

std::string row(std::string_view who, std::string_view process, const top_rank& rank) {
    const top_rates& rates = rank.rates;
    return fmt::format(
        "{:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}  {}", who, process,
        fmt::format("{} of {}", rank.active_workers, rank.workers), number(rates.tasks_per_s),
        mean_task(rates), number(rates.chunks_per_s + rates.scopes_per_s), share(rates.overhead),
        share(rates.blocked), share(rates.lost), share(rates.idle),
        number(static_cast<double>(rank.queued)), number(static_cast<double>(rank.suspended)),
        rank.frame.resident_bytes != 0 ? memory(rank.frame.resident_bytes) : "");
}

std::string heading(const top_job_frame& job) {
    const top_frame& first = job.shown.front().frame;
    return fmt::format("{}, {} of {} ranks, Quern {}, up {}, over {}", first.program,
                       job.shown.size(), job.ranks, first.version, duration(first.uptime_s),
                       duration(first.interval_s));
}

top_rank rank_of_frame(int rank, top_frame frame) {
    top_rank made;
    made.rank = rank;
    rates_of_all rates;
    for (const top_pool& pool : frame.pools) {
        const auto workers = static_cast<unsigned>(pool.workers.size());
        rates.add(pool.rates, workers);
        made.workers += workers;
        made.active_workers += pool.active_workers;
        made.queued += pool.queued;
        made.suspended += pool.suspended;
    }
    made.rates = rates.rates();
    made.frame = std::move(frame);
    return made;
}

std::vector<std::string> lines_of(const top_job_frame& job, std::size_t width) {
    if (job.shown.empty()) {
        return {};
    }
    const top_rank all = sum_of(job.shown);
    std::vector<std::string> lines{
        heading(job), "",
        fmt::format("{:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}  {}",
                    "rank", "process", "workers", "tasks/s", "mean task", "parts/s", "overhead",
                    "blocked", "lost", "idle", "queued", "suspended", "resident")};
    for (const top_rank& each : job.shown) {
        lines.push_back(row(std::to_string(each.rank), std::to_string(each.frame.pid), each));
    }
    if (job.shown.size() > 1) {
        lines.push_back(row("all", "", all));
    }
    add_sites(lines, sites_of(job.shown, all.workers));
    add_decisions(lines, decisions_of(job.shown));
    fit(lines, width);
    return lines;
}

}  // namespace

top_job::top_job(const std::vector<found_program>& ranks)
    : m_starter(ranks.front().place->starter) {
    m_frame.ranks = ranks.front().place->ranks;
    for (const found_program& each : ranks) {
        add(each.number, each.place->rank);
    }
}

void top_job::add(pid_t number, int rank) {
    try {
        m_watched.push_back({rank, number, std::make_unique<top_watch>(number)});
    } catch (const counters::cannot_ask&) {
        return;  // it has ended meanwhile
    }
}

/// Ranks that have a runtime now and had none before.
void top_job::add_new_ones() {
    for (const pid_t number : counters::live_programs()) {
        const bool is_known =
            std::any_of(m_watched.begin(), m_watched.end(),
                        [number](const watched& each) { return each.number == number; });
        const std::optional<job_place> place = is_known ? std::nullopt : place_in_job(number);
        if (place && place->starter == m_starter) {
            add(number, place->rank);
        }
    }
}

template <class F>
void top_job::for_each_rank(F f) {
    std::erase_if(m_watched, [&](watched& each) {
        try {
            f(each);
            return false;
        } catch (const counters::cannot_ask&) {
            return true;
        }
    });
    if (m_watched.empty()) {
        throw counters::program_ended("no rank of the job has a runtime any more");
    }
}

void top_job::look() {
    for_each_rank([](watched& each) { each.watch->look(); });
}

void top_job::renew() {
    add_new_ones();
    m_frame.shown.clear();
    for_each_rank([this](watched& each) {
        m_frame.shown.push_back(rank_of_frame(each.rank, each.watch->frame()));
    });
}

std::vector<std::string> top_job::lines(top_order order, std::size_t width) const {
    top_job_frame shown = m_frame;
    const auto key = [order](const top_rank& each) {
        return order_of(order, each.rank, each.rates, each.queued);
    };
    std::stable_sort(shown.shown.begin(), shown.shown.end(),
                     [&key](const top_rank& a, const top_rank& b) { return key(a) < key(b); });
    return lines_of(shown, width);
}

std::string top_job::as_json() const {
    json out(json::layout::indented);
    out.open('{').field("ranks", m_frame.ranks).open('[', "shown");
    for (const top_rank& each : m_frame.shown) {
        out.open('{').field("rank", each.rank);
        add_frame(out, each.frame);
        out.close();
    }
    return out.take();
}

}  // namespace quern::tool
