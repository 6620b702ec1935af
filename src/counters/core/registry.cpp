// SPDX-License-Identifier: BSL-1.0
// Resolves names to counters: the runtime, the workers that match, and the error for an unknown
// name.
#include <quern/counters/registry.hpp>

#include "core/derived.hpp"
#include "core/tables.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/counters/system_events.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <stdexcept>

namespace quern::counters {

namespace detail {

namespace {

struct instance {
    std::string name;  ///< "locality#0/total"
    location where;
    bool of_pool = false;  ///< matches only patterns that name pools
};

/// All instances, in display order.
std::vector<instance> instances_of(const living_runtime& of) {
    std::vector<instance> all{{"locality#0/total", {}, false}};
    int count = 0;
    int pool = 0;
    for (const auto& each : of.pools()) {
        for (int rank = 0; rank < static_cast<int>(each.workers); ++rank) {
            all.push_back({"locality#0/worker-thread#" + std::to_string(count++), {pool, rank}});
        }
        ++pool;
    }
    pool = 0;
    for (const auto& each : of.pools()) {
        const std::string prefix = "locality#0/pool#" + each.name;
        all.push_back({prefix + "/total", {pool, -1}, true});
        for (int rank = 0; rank < static_cast<int>(each.workers); ++rank) {
            all.push_back({prefix + "/worker-thread#" + std::to_string(rank), {pool, rank}, true});
        }
        ++pool;
    }
    return all;
}

bool stands_for(const std::string& pattern, const instance& one) {
    constexpr std::string_view k_here = "locality#0/";
    if (one.of_pool && pattern.find("pool#") == std::string::npos) {
        return false;
    }
    const std::string_view name = one.name;
    return matches(pattern, name) || matches(pattern, name.substr(k_here.size()));
}

/// "worker-thread#0 to #3"
std::string workers_in_words(unsigned count) {
    return "worker-thread#0" + (count > 1 ? " to #" + std::to_string(count - 1) : std::string());
}

/// The nearest name of a pool; empty if none was named or the pool exists.
std::string_view nearest_pool(const std::string& instance, const living_runtime& of) {
    std::size_t fault_at = 0;
    const auto wanted = parse_instance(instance, fault_at);
    std::vector<std::string_view> names;
    for (const auto& each : of.pools()) {
        names.push_back(each.name);
    }
    return !wanted || std::find(names.begin(), names.end(), wanted->pool) != names.end()
               ? ""
               : quern::detail::nearest_match(wanted->pool, names);
}

[[noreturn]] void refuse_instance(std::string_view text, const std::string& instance,
                                  const living_runtime& of, bool has_workers) {
    std::string there = "there is only locality#0/total";
    if (has_workers) {
        unsigned workers = 0;
        std::string pools;
        for (const auto& each : of.pools()) {
            workers += each.workers;
            pools += ", pool#" + each.name + "/total, pool#" + each.name + "/" +
                     workers_in_words(each.workers);
        }
        there = "there are locality#0/total, " + workers_in_words(workers) + pools;
    }
    if (const std::string_view nearest = nearest_pool(instance, of); !nearest.empty()) {
        there.append("; did you mean the pool '").append(nearest).append("'?");
    }
    throw std::invalid_argument("quern: counter name '" + std::string(text) +
                                "': there is no instance '" + instance + "'; " + there);
}

bool same_pattern(const counter_name& pattern, const counter_info& info) {
    return matches(pattern.plain(), info.name);
}

}  // namespace

bool is_derived(const counter_name& name) noexcept {
    return name.object == "arithmetics" || name.object == "statistics";
}

void refuse_unknown(std::string_view text, const std::string& plain) {
    const std::vector<counter_info> all = all_counters();
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const counter_info& each : all) {
        names.push_back(each.name);
    }
    const std::string_view nearest = quern::detail::nearest_match(plain, names);
    throw std::invalid_argument(
        "quern: counter name '" + std::string(text) + "': no counter is called '" + plain + "'" +
        (nearest.empty() ? "; --quern:list-counters shows all that there are"
                         : "; did you mean '" + std::string(nearest) + "'?"));
}

/// Raw events are too many to list: each is installed at its first use.
void bring_raw_event(const std::string& plain) {
    auto made = raw_event_source({}, topology::event_kernel::of_machine(), plain);
    if (made == nullptr) {
        return;
    }
    try {
        install_from(source_origin::quern, std::move(made)).keep();
    } catch (const std::invalid_argument&) {
        return;  // already installed
    }
}

std::vector<found_counter> find(std::string_view pattern, const living_runtime& of) {
    const counter_name wanted = parse_name(pattern);
    bring_raw_event(wanted.plain());
    const std::string instance_wanted =
        wanted.instance.empty() ? "locality#0/total" : wanted.instance;
    const std::vector<instance> places = instances_of(of);
    std::vector<found_counter> result;
    bool is_known = false;
    bool has_workers = false;
    for (const auto& from : all_sources()) {
        for (std::size_t i = 0; i < from->counters().size(); ++i) {
            const counter_info& info = from->counters()[i];
            if (!same_pattern(wanted, info)) {
                continue;
            }
            is_known = true;
            has_workers = has_workers || from->has_workers();
            const std::size_t slash = info.name.find('/', 1);
            for (const instance& each : places) {
                const bool is_whole = each.where == location{};
                if ((is_whole || from->has_workers()) && stands_for(instance_wanted, each)) {
                    result.push_back({from, i, each.where,
                                      info.name.substr(0, slash) + "{" + each.name + "}" +
                                          info.name.substr(slash)});
                }
            }
        }
    }
    if (!is_known) {
        refuse_unknown(pattern, wanted.plain());
    }
    if (result.empty()) {
        refuse_instance(pattern, instance_wanted, of, has_workers);
    }
    if (!wanted.parameters.empty()) {
        throw std::invalid_argument("quern: counter name '" + std::string(pattern) +
                                    "': this counter takes no parameters");
    }
    return result;
}

void check_pattern(std::string_view pattern) {
    const counter_name wanted = parse_name(pattern);
    if (is_derived(wanted)) {
        check_derived(pattern, wanted);
        return;
    }
    bring_raw_event(wanted.plain());
    for (const auto& from : all_sources()) {
        for (const counter_info& info : from->counters()) {
            if (same_pattern(wanted, info)) {
                return;
            }
        }
    }
    refuse_unknown(pattern, wanted.plain());
}

std::shared_ptr<living_runtime> living(const runtime& which) {
    if (auto found = find_living(which)) {
        return found;
    }
    throw std::logic_error("quern: counters of a runtime that has ended or not begun");
}

std::shared_ptr<living_runtime> runtime_meant() {
    const std::vector<std::shared_ptr<living_runtime>> all = all_living();
    if (quern::detail::context* const task = quern::detail::task_root()) {
        const quern::detail::pool* const home = &task->host().home();
        for (const auto& each : all) {
            for (const auto& candidate : each->pools()) {
                if (&candidate.ref.get() == home) {
                    return each;
                }
            }
        }
    }
    if (all.empty()) {
        return living(runtime::default_instance());
    }
    if (all.size() > 1) {
        throw std::logic_error("quern: counters of which runtime? There are " +
                               std::to_string(all.size()) + ", and the caller is no task; name it");
    }
    return all.front();
}

}  // namespace detail

namespace {

std::vector<description> discover_in(std::string_view pattern, const detail::living_runtime& of) {
    std::vector<description> result;
    for (const detail::found_counter& each : detail::find(pattern, of)) {
        result.push_back({each.name, each.info()});
    }
    return result;
}

}  // namespace

std::vector<description> discover(std::string_view pattern) {
    return discover_in(pattern, *detail::runtime_meant());
}

std::vector<description> discover(std::string_view pattern, const runtime& of) {
    return discover_in(pattern, *detail::living(of));
}

std::vector<counter_info> all_counters() {
    std::vector<counter_info> all;
    for (const auto& from : detail::all_sources()) {
        all.insert(all.end(), from->counters().begin(), from->counters().end());
    }
    return all;
}

}  // namespace quern::counters
