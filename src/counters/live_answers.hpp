// SPDX-License-Identifier: BSL-1.0
// What is answered to which question. A question is a line of words, an answer a line of JSON with
// the number of the protocol; docs/looking-in.md describes them.
#pragma once

#include <quern/counters/counter.hpp>
#include <quern/scheduler/pool_view.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern::detail {

class json_line;

/// A runtime at this moment: its pools.
using runtime_view = std::vector<pool_view>;

/// All runtimes that can be looked into. Thread safe. In live.cpp, which knows them.
std::vector<runtime_view> view_of_runtimes();

/// What one who asks again and again has said before.
struct live_session {
    std::string patterns;
    std::vector<counters::counter_set> sets;  ///< with the baseline of the last answer
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
    static std::string values(std::string_view patterns);
    static std::string values_since(std::string_view patterns, live_session& of);
    void add_worker(json_line& json, const worker_view& seen);
    const std::string& place_of(const void* site);

    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
    std::unordered_map<const void*, std::string> m_places;  ///< reading debug information is slow
};

}  // namespace quern::detail
