// SPDX-License-Identifier: BSL-1.0
// The log is a ring behind a lock of the process. Whatever else shows a decision is called without
// the lock.
#include <quern/adaptation/decisions.hpp>

#include "log/configuration.hpp"
#include "log/process_object.hpp"
#include "log/totals.hpp"

#include <quern/base/detail/output_place.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/trace/events.hpp>
#include <quern/trace/recorder.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace detail {

constinit counts g_counts{};

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;

constexpr std::size_t k_kept = 4096;  // decisions; about 1 MB of text (guessed)

struct decision_log {
    decision_log() = default;
    decision_log(const decision_log&) = delete;
    decision_log& operator=(const decision_log&) = delete;
    ~decision_log() { close(); }

    void close() noexcept {
        if (file != nullptr && quern::detail::standard_stream(place) == nullptr) {
            std::fclose(file);
        }
        file = nullptr;
    }

    std::deque<decision> kept;
    std::FILE* file = nullptr;  ///< of its own, or a stream of the process
    std::string place;
};

constinit process_object<decision_log> g_log{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_log() { g_log.forget(); }

/// Requires: the lock is held.
decision_log& the_log() { return g_log.get(); }

}  // namespace

void write_decisions_to(const std::string& place) {
    const std::scoped_lock lock(lock_of(process_lock::adaptation));
    decision_log& all = the_log();
    if (place == all.place) {
        return;
    }
    all.close();
    all.place = place;
    if (place.empty()) {
        return;
    }
    all.file = quern::detail::standard_stream(place);
    if (all.file == nullptr) {
        all.file = std::fopen(place.c_str(), "ae");
    }
    if (all.file == nullptr) {
        throw std::runtime_error("'" + place + "': " + std::strerror(errno));
    }
}

std::vector<decision> newest_choices(std::size_t most) {
    std::vector<decision> newest;
    const std::scoped_lock lock(lock_of(process_lock::adaptation));
    const std::deque<decision>& kept = the_log().kept;
    for (auto each = kept.rbegin(); each != kept.rend() && newest.size() < most; ++each) {
        if (!each->is_trial) {
            newest.push_back(*each);
        }
    }
    std::reverse(newest.begin(), newest.end());
    return newest;
}

}  // namespace detail

namespace {

/// Whole numbers with all of their digits.
std::string words_of(double value) {
    constexpr double k_exact = 9007199254740992.0;  // 2^53
    return std::abs(value) <= k_exact && value == std::trunc(value)
               ? quern::detail::fixed(value, 0)
               : quern::detail::rounded(value, 6);
}

std::string before_of(const decision& what) {
    return what.before_text.empty() ? words_of(what.before) : what.before_text;
}

std::string after_of(const decision& what) {
    return what.after_text.empty() ? words_of(what.after) : what.after_text;
}

/// As recordings have it. `text`: that of text_of().
trace::decision recorded(const decision& what, std::string_view text) {
    trace::value_change change{.subject = what.subject,
                               .unit = what.unit,
                               .before = before_of(what),
                               .after = after_of(what),
                               .numbers = what.numbers,
                               .inputs = what.inputs,
                               .why = what.why,
                               .predicted = what.predicted,
                               .observed = what.observed,
                               .is_trial = what.is_trial,
                               .applied = what.applied};
    if (what.before_text.empty() && what.after_text.empty()) {
        change.numbers = {{.before = what.before, .after = what.after}};
    }
    return {.who = what.policy,
            .what = std::string(text.substr(what.policy.size() + 2)),
            .change = std::move(change)};
}

}  // namespace

std::string text_of(const decision& what) {
    const std::string before = before_of(what);
    const std::string after = after_of(what) + (what.unit.empty() ? "" : " " + what.unit);
    const bool stays = what.before == what.after && what.before_text == what.after_text;
    std::string text = what.policy + ": " + what.subject + " " +
                       (stays ? "stays " + after : before + " -> " + after);
    if (!what.applied) {
        text += " (not applied)";
    }
    if (!what.why.empty()) {
        text += ": " + what.why;
    }
    if (!what.inputs.empty()) {
        text += " [" + what.inputs + "]";
    }
    if (what.predicted) {
        text += "; predicted cost " + quern::detail::rounded(*what.predicted, 3);
    }
    if (what.observed) {
        text += "; observed cost " + quern::detail::rounded(*what.observed, 3);
    }
    return text;
}

void log(decision what) {
    if (what.time_ns == 0) {
        what.time_ns = trace::event_clock_ns();
    }
    std::string text = text_of(what);
    trace::mark(recorded(what, text));
    detail::g_counts.decisions.fetch_add(1, std::memory_order_relaxed);
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::adaptation));
    detail::decision_log& all = detail::the_log();
    if (all.file != nullptr) {
        std::fprintf(all.file, "quern: decision at %s: %s\n",
                     quern::detail::duration_words(static_cast<double>(what.time_ns)).c_str(),
                     text.c_str());
        std::fflush(all.file);
    }
    all.kept.push_back(std::move(what));
    if (all.kept.size() > detail::k_kept) {
        all.kept.pop_front();
    }
}

std::vector<decision> decisions() {
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::adaptation));
    const detail::decision_log& all = detail::the_log();
    return {all.kept.begin(), all.kept.end()};
}

totals all_totals() noexcept {
    const auto of = [](const std::atomic<std::uint64_t>& count) {
        return count.load(std::memory_order_relaxed);
    };
    return {.decisions = of(detail::g_counts.decisions),
            .trials = of(detail::g_counts.trials),
            .policy_ns = static_cast<double>(of(detail::g_counts.policy_ns)),
            .dropped = of(detail::g_counts.dropped)};
}

}  // namespace quern::adaptation
