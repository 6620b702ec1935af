// SPDX-License-Identifier: BSL-1.0
// The answers.
#include "live_answers.hpp"

#include "live_text.hpp"

#include <quern/base/nearest_match.hpp>
#include <quern/base/symbols.hpp>
#include <quern/counters/programs.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/version.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace quern::detail {

namespace {

using std::chrono::steady_clock;

constexpr std::array<std::string_view, 6> k_requests{"hello", "snapshot", "tasks",
                                                     "list",  "counters", "since"};

std::int64_t now_ns() {
    return std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

json_line begin_answer() {
    json_line json;
    json.open('{').number("protocol", counters::k_live_protocol);
    json.text("version", QUERN_VERSION_STRING).number("pid", ::getpid());
    json.text("program", program_invocation_short_name);
    return json;
}

std::string finish(json_line& json) { return json.close('}').take() + "\n"; }

namespace {

std::string_view name_of(worker_phase phase) {
    switch (phase) {
        case worker_phase::running:
            return "running";
        case worker_phase::managing:
            return "managing";
        case worker_phase::idle:
            return "idle";
    }
    return "";
}

/// The program and its arguments, separated by blanks.
std::string command_line() {
    std::string text;
    if (std::FILE* const file = std::fopen("/proc/self/cmdline", "re")) {
        std::array<char, 1024> piece;
        text.assign(piece.data(), std::fread(piece.data(), 1, piece.size(), file));
        std::fclose(file);
    }
    while (!text.empty() && text.back() == '\0') {
        text.pop_back();
    }
    for (char& c : text) {
        c = c == '\0' ? ' ' : c;
    }
    return text;
}

void add_totals(json_line& json, const worker_totals& totals) {
    json.number("running_ns", totals.running_ns);
    json.number("managing_ns", totals.managing_ns);
    json.number("idle_ns", totals.idle_ns);
    json.number("tasks", totals.tasks).number("inlined", totals.inlined);
    json.number("activations", totals.activations).number("suspensions", totals.suspensions);
    json.number("stolen", totals.stolen).number("parks", totals.parks);
    json.number("wakes", totals.wakes);
    json.number("contexts_recycled", totals.contexts_recycled);
    json.number("contexts_made", totals.contexts_made);
}

}  // namespace

std::string live_answers::refusal(std::string_view why) {
    json_line json = begin_answer();
    json.text("error", why);
    return finish(json);
}

std::string live_answers::answer(std::string_view request, live_session& of) try {
    const std::size_t end = std::min(request.find(' '), request.size());
    const std::string_view word = request.substr(0, end);
    const std::string_view rest = request.substr(std::min(end + 1, request.size()));
    if (word == "hello") {
        return hello();
    }
    if (word == "snapshot") {
        return snapshot();
    }
    if (word == "tasks") {
        return tasks();
    }
    if (word == "list") {
        return list(rest);
    }
    if (word == "counters") {
        return values(rest, of.values, false);
    }
    if (word == "since") {
        return values(rest, of.since, true);
    }
    return refusal("unknown request '" + std::string(word) + "'; " +
                   accepted_values(word, k_requests));
} catch (const std::invalid_argument& error) {  // a pattern that no counter has
    return refusal(error.what());
}

std::string live_answers::hello() const {
    json_line json = begin_answer();
    json.text("command", command_line());
    json.number("time_ns", now_ns());
    json.number("seconds", std::chrono::duration<double>(steady_clock::now() - m_began).count());
    json.open('[', "pools");
    for (const runtime_view& runtime : view_of_runtimes()) {
        for (const pool_view& pool : runtime) {
            json.open('{').text("name", pool.name).number("workers", pool.workers.size());
            json.close('}');
        }
    }
    json.close(']');
    return finish(json);
}

std::string live_answers::snapshot() {
    json_line json = begin_answer();
    const std::vector<runtime_view> all = view_of_runtimes();
    json.number("time_ns", now_ns());
    json.number("seconds", std::chrono::duration<double>(steady_clock::now() - m_began).count());
    json.open('[', "runtimes");
    for (const runtime_view& runtime : all) {
        json.open('{').open('[', "pools");
        for (const pool_view& pool : runtime) {
            json.open('{').text("name", pool.name).text("policy", pool.policy);
            json.number("active_workers", pool.active_workers);
            json.number("queued", pool.queued).number("suspended", pool.suspended);
            json.open('[', "workers");
            for (const worker_view& worker : pool.workers) {
                add_worker(json, worker);
            }
            json.close(']').close('}');
        }
        json.close(']').close('}');
    }
    json.close(']');
    return finish(json);
}

void live_answers::add_worker(json_line& json, const worker_view& seen) {
    json.open('{').number("rank", seen.rank).number("thread", seen.thread);
    json.text("phase", name_of(seen.phase)).number("queued", seen.queued);
    add_totals(json, seen.totals);
    json.number("blocked_ns", seen.blocked_ns);
    if (!seen.task.empty()) {
        json.text("task", seen.task);
    }
    if (seen.site != nullptr) {
        json.text("place", place_of(seen.site));
    }
    json.close('}');
}

const std::string& live_answers::place_of(const void* site) {
    constexpr std::size_t k_most = 10'000;  // places; what a program has, unless it loads plug-ins
    if (m_places.size() >= k_most) {
        m_places.clear();
    }
    const auto [place, is_new] = m_places.try_emplace(site);
    if (is_new) {
        place->second = describe_site(site);
    }
    return place->second;
}

std::string live_answers::tasks() {
    json_line json = begin_answer();
    json.text("tasks", task_report());
    return finish(json);
}

}  // namespace quern::detail
