// SPDX-License-Identifier: BSL-1.0
// The answers.
#include "live/answers.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/counters/detail/live.hpp>
#include <quern/counters/programs.hpp>
#include <quern/scheduler/detail/site_words.hpp>
#include <quern/scheduler/detail/worker_figures.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/version.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>
#include <stdexcept>

namespace quern::detail {

namespace {

using std::chrono::steady_clock;

constexpr std::array<std::string_view, 6> k_requests{"hello", "snapshot", "tasks",
                                                     "list",  "counters", "since"};

/// Of the layers above. The number is written last: release, pairs with the acquire of readers.
struct further_answer {
    const char* word = nullptr;
    live_answer how = nullptr;
};
constinit std::array<further_answer, 8> g_further{};
constinit std::atomic<std::size_t> g_further_count{0};

std::span<const further_answer> further_answers() noexcept {
    return std::span(g_further).first(g_further_count.load(std::memory_order_acquire));
}

std::int64_t now_ns() {
    return std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

json begin_answer() {
    json out;
    out.open('{').fields("protocol", counters::k_live_protocol, "version", QUERN_VERSION_STRING,
                         "pid", ::getpid(), "program", program_invocation_short_name);
    return out;
}

namespace {

constexpr std::string_view k_phases[] = {"running", "managing", "idle"};

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

}  // namespace

std::string live_answers::refusal(std::string_view why) {
    return begin_answer().field("error", why).take();
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
    std::vector<std::string_view> known(k_requests.begin(), k_requests.end());
    for (const further_answer& each : further_answers()) {
        if (word == each.word) {
            json out = begin_answer();
            each.how(out);
            return out.take();
        }
        known.emplace_back(each.word);
    }
    return refusal("unknown request '" + std::string(word) + "'; " + accepted_values(word, known));
} catch (const std::invalid_argument& error) {  // a pattern that no counter has
    return refusal(error.what());
}

void add_live_answer(const char* word, live_answer how) noexcept {
    const std::scoped_lock lock(lock_of(process_lock::live));
    const std::size_t count = g_further_count.load(std::memory_order_relaxed);
    const auto known = further_answers();
    if (count < g_further.size() && std::none_of(known.begin(), known.end(), [&](auto& each) {
            return std::string_view(each.word) == word;
        })) {
        g_further[count] = {word, how};
        g_further_count.store(count + 1, std::memory_order_release);
    }
}

std::string live_answers::hello() const {
    json out = begin_answer();
    out.fields("command", command_line(), "time_ns", now_ns(), "seconds", age_s());
    out.open('[', "pools");
    for (const runtime_view& runtime : view_of_runtimes()) {
        for (const pool_view& pool : runtime) {
            out.open('{').fields("name", pool.name, "workers", pool.workers.size()).close();
        }
    }
    return out.take();
}

std::string live_answers::snapshot() {
    json out = begin_answer();
    const std::vector<runtime_view> all = view_of_runtimes();
    out.fields("time_ns", now_ns(), "seconds", age_s()).open('[', "runtimes");
    for (const runtime_view& runtime : all) {
        out.open('{').open('[', "pools");
        for (const pool_view& pool : runtime) {
            out.open('{').fields("name", pool.name, "policy", pool.policy, "active_workers",
                                 pool.active_workers, "queued", pool.queued, "suspended",
                                 pool.suspended);
            out.open('[', "workers");
            for (const worker_view& worker : pool.workers) {
                add_worker(out, worker);
            }
            out.close().close();
        }
        out.close().close();
    }
    return out.take();
}

double live_answers::age_s() const {
    return std::chrono::duration<double>(steady_clock::now() - m_began).count();
}

void live_answers::add_worker(json& out, const worker_view& seen) {
    out.open('{').fields("rank", seen.rank, "thread", seen.thread, "phase",
                         k_phases[static_cast<std::size_t>(seen.phase)], "queued", seen.queued);
    for (const worker_figure& each : k_worker_figures) {
        each.with(seen.totals, seen.totals, [&](auto value, auto) { out.field(each.name, value); });
    }
    out.fields("blocked_ns", seen.blocked_ns, "lost_ns", seen.lost_ns, "ran_ns", seen.ran_ns);
    if (!seen.task.empty()) {
        out.field("task", seen.task);
    }
    if (seen.site != nullptr) {
        out.field("place", place_of(seen.site));
    } else if (seen.entry != nullptr) {
        out.field("place", part_of(seen.entry));
    }
    out.close();
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

const std::string& live_answers::part_of(const void* entry) {
    const auto [place, is_new] = m_places.try_emplace(entry);
    if (is_new) {
        place->second = words_of_site("", entry, true, entry).name;
    }
    return place->second;
}

std::string live_answers::tasks() { return begin_answer().field("tasks", task_report()).take(); }

}  // namespace quern::detail
