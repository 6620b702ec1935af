// SPDX-License-Identifier: BSL-1.0
// What is answered to which question. A question is a line of words, an answer a line of JSON with
// the number of the protocol; docs/looking-in.md describes them.
#pragma once

#include <quern/base/detail/json.hpp>
#include <quern/counters/counter.hpp>
#include <quern/scheduler/detail/pool_view.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::counters::detail {
class living_runtime;
class openmetrics;
}  // namespace quern::counters::detail

namespace quern::detail {

/// A runtime at this moment: its pools.
using runtime_view = std::vector<pool_view>;

/// All runtimes that can be looked into. Thread safe. In live.cpp, which knows them.
std::vector<runtime_view> view_of_runtimes();

/// Adds all totals of all runtimes.
void add_totals(counters::detail::openmetrics& to);

/// An answer begins with protocol, version, number and name of the program.
json begin_answer();

/// The counters that a question named, a set for each runtime: kept for the next such question.
struct live_sets {
    std::string patterns;
    std::vector<std::pair<std::shared_ptr<counters::detail::living_runtime>, counters::counter_set>>
        of_runtimes;
};

/// What one who asks again and again has said before.
struct live_session {
    live_sets values;  ///< so that statistics, which are sampled meanwhile, have samples
    live_sets since;   ///< with the baseline of the last answer
};

/// Used by one thread.
class live_answers {
public:
    /// With the end of line.
    std::string answer(std::string_view request, live_session& of);
    static std::string refusal(std::string_view why);

    /// To the first line of a request of HTTP; all of the response.
    std::string answer_http(std::string_view request_line);

private:
    std::string hello() const;
    std::string snapshot();
    static std::string tasks();
    static std::string list(std::string_view patterns);
    static std::string values(std::string_view patterns, live_sets& kept, bool reset);
    void add_worker(json& out, const worker_view& seen);
    double age_s() const;
    const std::string& place_of(const void* site);
    /// Of a task without name and place: what it runs.
    const std::string& part_of(const void* entry);

    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
    std::unordered_map<const void*, std::string> m_places;  ///< reading debug information is slow
};

}  // namespace quern::detail
