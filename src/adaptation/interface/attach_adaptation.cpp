// SPDX-License-Identifier: BSL-1.0
// How the layer takes part in a program: its settings, its counters, and an observer that takes
// over the settings of each runtime that is made.
#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/detail/settings.hpp>

#include "inlining/inlining.hpp"
#include "log/configuration.hpp"
#include "log/totals.hpp"
#include "policies/policy_state.hpp"
#include "runtimes/runtime_registry.hpp"
#include "tuning/history.hpp"

#include <quern/base/detail/json.hpp>
#include <quern/counters/detail/attach.hpp>
#include <quern/counters/detail/built_in.hpp>
#include <quern/counters/detail/live.hpp>
#include <quern/counters/detail/settings.hpp>
#include <quern/counters/source.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/settings/settings.hpp>
#include <quern/trace/detail/settings.hpp>
#include <quern/trace/events.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace quern::adaptation {

namespace detail {

namespace {

std::vector<std::string_view> launches() { return {"async", "adaptive"}; }
std::vector<std::string_view> modes() { return {"off", "dry-run", "on"}; }

constexpr setting k_settings[] = {
    {.name = "adapt",
     .owner = "adaptation",
     .type = setting_type::word,
     .words = modes,
     .fallback = "on",
     .help = "whether tuners and policies may change anything; dry-run: they only log decisions"},
    {.name = "decisions",
     .owner = "adaptation",
     .type = setting_type::path,
     .fallback = "",
     .help = "where decisions of tuners and policies are written as they are made: stderr, or a "
             "file"},
    {.name = "tune-history",
     .owner = "adaptation",
     .type = setting_type::path,
     .fallback = "",
     .help = "file in which tuned numbers are kept for the next run of the program"},
    {.name = "launch",
     .owner = "adaptation",
     .type = setting_type::word,
     .words = launches,
     .fallback = "async",
     .help = "how tasks with launch::async start; adaptive: as with launch::adaptive"},
    {.name = "inlining",
     .owner = "adaptation",
     .type = setting_type::word,
     .words = inlining_rule_names,
     .fallback = "quern",
     .help = "the rule by which child tasks with launch::adaptive run at once"},
};

constinit std::atomic<bool> g_attached{false};
constexpr int k_unknown = -1;
constinit std::atomic<int> g_mode{k_unknown};

mode mode_in(const settings& chosen) {
    const std::string& word = chosen.at("adapt").text;
    return word == "off" ? mode::off : word == "dry-run" ? mode::dry_run : mode::on;
}

/// The counters /adaptation/…: one of each for the process.
class adaptation_source final : public counters::source {
public:
    const std::vector<counters::counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<counters::raw_reading> read(const counters::place&) override {
        const totals all = all_totals();
        const auto of = [](double value) { return counters::raw_reading{.above = value}; };
        return {of(static_cast<double>(all.decisions)), of(static_cast<double>(all.trials)),
                of(all.policy_ns), of(static_cast<double>(all.dropped))};
    }

private:
    using kind = counters::counter_kind;
    const std::vector<counters::counter_info> m_infos{
        {"/adaptation/decisions", kind::sum, "", "decisions of tuners and policies"},
        {"/adaptation/trials", kind::sum, "", "points that tuners have measured"},
        {"/adaptation/policy-time", kind::sum, "ns", "time in functions of policies"},
        {"/adaptation/dropped-events", kind::sum, "", "events that policies were too slow for"},
    };
};

void add_decisions(quern::detail::json& to, const std::vector<decision>& all) {
    to.open('[', "decisions");
    for (const decision& each : all) {
        to.open('{').fields("time_ns", each.time_ns, "policy", each.policy, "subject", each.subject,
                            "before", each.before, "after", each.after, "unit", each.unit, "inputs",
                            each.inputs, "why", each.why, "applied", each.applied, "trial",
                            each.is_trial, "text", text_of(each));
        to.field("predicted", each.predicted).field("observed", each.observed).close();
    }
    to.close();
}

/// What `quern decisions` shows.
void answer_decisions(quern::detail::json& to) { add_decisions(to, decisions()); }

/// What `quern top` shows, about once a second: therefore few.
void answer_newest_decisions(quern::detail::json& to) {
    constexpr std::size_t k_most = 5;  // lines on a screen
    const totals all = all_totals();
    to.fields("decisions_made", all.decisions, "trials", all.trials);
    add_decisions(to, newest_choices(k_most));
}

/// Of static storage and without members: it lives as long as the library is loaded.
class settings_observer final : public runtime_observer {
public:
    constexpr settings_observer() = default;
    void check(const settings&) override {}
    void started(runtime& which, const settings& chosen) noexcept override {
        g_mode.store(static_cast<int>(mode_in(chosen)), std::memory_order_relaxed);
        use_inlining(inlining_rule_named(chosen.at("inlining").text),
                     chosen.at("launch").text == "adaptive", mode_in(chosen));
        try {
            remember_in(chosen.at("tune-history").text);
            write_decisions_to(chosen.at("decisions").text);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "quern: decisions are not written: %s\n", error.what());
        }
        runtime_starts(which);
        mode_may_have_changed();
    }
    /// Not in ends(): a policy may read counters, whose observer must not have ended before.
    void stops(runtime& which) noexcept override { runtime_ends(which); }
    void ends(runtime&) noexcept override {}
};

constinit settings_observer g_observer;

}  // namespace

void add_settings() {
    static constinit std::once_flag added;
    counters::detail::add_settings();  // first in the help
    trace::detail::add_settings();
    std::call_once(added, [] { register_settings(k_settings); });
}

bool attach() noexcept {
    if (!g_attached.exchange(true)) {
        add_settings();
        counters::detail::attach();  // a policy that sees a runtime finds its counters
        add_observer(g_observer);
        quern::detail::add_live_answer("decisions", answer_decisions);
        quern::detail::add_live_answer("newest-decisions", answer_newest_decisions);
        trace::event_clock_ns();  // decisions count from here
        counters::detail::add_built_in([]() -> std::unique_ptr<counters::source> {
            return std::make_unique<adaptation_source>();
        });
    }
    return true;
}

}  // namespace detail

mode current_mode() {
    const int known = detail::g_mode.load(std::memory_order_relaxed);
    return known != detail::k_unknown ? static_cast<mode>(known)
                                      : detail::mode_in(current_settings());
}

}  // namespace quern::adaptation
