// SPDX-License-Identifier: BSL-1.0
// The throttles that --throttle starts, over the throughput of the searches, and their decisions.
// Called by main.cpp.
#pragma once

#include "search.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/throttling.hpp>
#include <quern/counters/registry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sssp {

enum class throttle_kind : std::uint8_t { none, throughput, queue, saturation };

/// In the order of throttle_kind.
inline const std::vector<std::string_view>& throttle_names() {
    static const std::vector<std::string_view> names{"none", "throughput", "queue", "saturation"};
    return names;
}

/// Requires: one of throttle_names().
inline throttle_kind throttle_named(std::string_view name) {
    const auto& names = throttle_names();
    return static_cast<throttle_kind>(std::find(names.begin(), names.end(), name) - names.begin());
}

inline constexpr const char* k_site = "sssp.search";           ///< the task that is one search
inline constexpr const char* k_counter = "/sssp/relaxations";  ///< relaxed edges, a sum

/// A throttle, and the counter that it reads, while the object lives. A period has several
/// searches, because phases of a search differ in their parallelism.
class running_throttle {
public:
    running_throttle(throttle_kind kind, const quern::runtime& rt, const delta_stepping& of,
                     double seconds_per_search)
        : m_counter(quern::counters::install(k_counter,
                                             [&of] { return static_cast<double>(of.relaxed()); },
                                             {.help = "edges relaxed by searches"})) {
        namespace adaptation = quern::adaptation;
        adaptation::throttle_options how{.pool = rt.default_pool(),
                                         .period = period_for(seconds_per_search)};
        switch (kind) {
            case throttle_kind::none:
                break;
            case throttle_kind::throughput:
                m_policy = adaptation::throttle_by_throughput(k_site, how);
                break;
            case throttle_kind::queue:
                m_policy = adaptation::throttle_by_queue(how);
                break;
            case throttle_kind::saturation:
                how.work = k_counter;
                m_policy = adaptation::throttle_by_saturation(how);
                break;
        }
    }

private:
    static std::chrono::nanoseconds period_for(double seconds_per_search) {
        constexpr double k_searches = 10;  // guessed; a part of one is then at most 10 %
        const std::chrono::duration<double> wanted(k_searches * seconds_per_search);
        return std::clamp(std::chrono::duration_cast<std::chrono::nanoseconds>(wanted),
                          std::chrono::nanoseconds(std::chrono::milliseconds(100)),
                          std::chrono::nanoseconds(std::chrono::seconds(10)));
    }

    quern::counters::installation m_counter;  ///< outlives the policy
    quern::adaptation::policy_handle m_policy;
};

/// Those about the number of workers, the oldest first.
inline std::vector<quern::adaptation::decision> decisions_of_throttle() {
    auto all = quern::adaptation::decisions();
    std::erase_if(all, [](const auto& each) { return each.subject != "active-workers"; });
    return all;
}

inline void print_decisions(const std::vector<quern::adaptation::decision>& all,
                            std::uint64_t begin_ns) {
    constexpr std::size_t k_most = 20;  // QUERN_DECISIONS=stderr prints them all
    if (all.size() > k_most) {
        fmt::print("    {} earlier decisions\n", all.size() - k_most);
    }
    for (std::size_t i = all.size() - std::min(all.size(), k_most); i < all.size(); ++i) {
        const double seconds =
            (static_cast<double>(all[i].time_ns) - static_cast<double>(begin_ns)) / 1e9;
        fmt::print("    {:6.2f} s  {}\n", seconds, quern::adaptation::text_of(all[i]));
    }
}

}  // namespace sssp
