// SPDX-License-Identifier: BSL-1.0
// The rules. `never` and `always` are fixed; `baseline` and `adaptive` are those of Wagle et al.
// (ICPP 2019), with a threshold for the mean time of a node; `quern` compares the latest times of a
// node, for calls with arguments of like size, with what a task costs in this process.
#include "tree/decide.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/async.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <array>
#include <bit>
#include <cstdio>
#include <mutex>

namespace quern::arrays::detail {

namespace {

constexpr std::array<std::string_view, 6> k_rule_names = {"settings", "never",    "always",
                                                          "baseline", "adaptive", "quern"};

inlining_rule rule_named(std::string_view name) noexcept {
    for (std::size_t i = 1; i < k_rule_names.size(); ++i) {
        if (k_rule_names[i] == name) {
            return static_cast<inlining_rule>(i);
        }
    }
    return inlining_rule::quern;
}

constinit std::atomic<inlining_rule> g_setting{inlining_rule::quern};
constinit std::atomic<bool> g_is_observed{false};

/// Of static storage and without members: it lives as long as the library is loaded.
class setting_observer final : public runtime_observer {
public:
    constexpr setting_observer() = default;
    void check(const settings&) override {}
    void started(runtime&, const settings& chosen) noexcept override {
        if (chosen.has("inlining")) {
            g_setting.store(rule_named(chosen.at("inlining").text), std::memory_order_relaxed);
        }
    }
    void ends(runtime&) noexcept override {}
};
constinit setting_observer g_observer;

/// Costs of a task below which a node is short: then 5 % of its time would be the task's.
constexpr double k_long = 20;
constexpr double k_least_long_ns = 2'000;
constexpr double k_most_long_ns = 50'000;
constexpr double k_margin = 1.25;      ///< around the limit the mode stays
constexpr std::uint32_t k_enough = 3;  ///< times until a node of a size is decided about
constinit std::atomic<double> g_short_ticks{0};

/// The least of a few groups of empty tasks: disturbances only lengthen.
QUERN_COLD double measure_short_ticks() {
    constexpr int k_groups = 5;
    constexpr int k_tasks = 16;
    tick_count least = ~tick_count{0};
    for (int group = 0; group < k_groups; ++group) {
        const tick_count begun = quern::detail::ticks();
        for (int i = 0; i < k_tasks; ++i) {
            quern::async([] { return 0; }).get();
        }
        least = std::min(least, quern::detail::ticks() - begun);
    }
    const double ns = static_cast<double>(least) / k_tasks * quern::detail::ns_per_tick();
    const double limit_ns = std::clamp(k_long * ns, k_least_long_ns, k_most_long_ns);
    return limit_ns / quern::detail::ns_per_tick();
}

std::string words_of_ticks(double ticks) {
    return quern::detail::duration_words(ticks * quern::detail::ns_per_tick());
}

/// Keeps and logs why a node's mode has changed. On a stack of its own: it needs room.
QUERN_COLD void note_change(const frame& f, const node_data& n, bool inlines, std::string why,
                            std::string inputs) noexcept {
    auto body = [&]() noexcept {
        try {
            node_decisions& own = f.decisions_of(n);
            {
                const std::scoped_lock guard(own.lock);
                own.why = why;
            }
            adaptation::log(
                {.policy = "inlining-" + std::string(name_of(f.how.rule)),
                 .subject = f.of.words_of(n) + " in " + f.of.name + "@" + f.of.place_of(n),
                 .before_text = inlines ? "task" : "inlined",
                 .after_text = inlines ? "inlined" : "task",
                 .inputs = std::move(inputs),
                 .why = std::move(why),
                 .applied = f.how.is_applied});
        } catch (const std::exception&) {  // no memory for words
        }
    };
    quern::detail::on_fresh_stack(body);
}

// -- the rule quern -------------------------------------------------------------------------------

void note_for_quern(const frame& f, const node_data& n, tick_count time) noexcept {
    node_decisions::by_size& own = f.decisions_of(n).sizes[f.size_class];
    const std::uint32_t samples = own.samples.load(std::memory_order_relaxed);
    const auto before = static_cast<double>(own.mean_ticks.load(std::memory_order_relaxed));
    // The mean of all at first, then one in which old times fade. Racing threads lose a sample.
    const double weight = 1.0 / std::min(samples + 1u, 8u);
    const double mean = before + (static_cast<double>(time) - before) * weight;
    own.mean_ticks.store(static_cast<std::uint64_t>(mean), std::memory_order_relaxed);
    own.samples.store(samples + 1u, std::memory_order_relaxed);
    if (samples + 1u < k_enough) {
        return;
    }
    const bool was_short = own.is_short.load(std::memory_order_relaxed);
    const double limit = f.how.short_ticks;
    const bool is_short = was_short ? mean < limit * k_margin : mean < limit / k_margin;
    if (is_short != was_short &&
        own.is_short.exchange(is_short, std::memory_order_relaxed) != is_short) [[unlikely]] {
        note_change(f, n, is_short,
                    std::string(is_short ? "short" : "long") + " against the " +
                        words_of_ticks(limit) + " from which on a task pays",
                    "mean " + words_of_ticks(mean) + " of the latest, arguments of size class " +
                        std::to_string(f.size_class));
    }
}

// -- the rules of the paper -----------------------------------------------------------------------

constexpr std::uint64_t k_paper_enough = 5;
constexpr double k_lower_ns = 350e3;
constexpr double k_upper_ns = 500e3;
constexpr std::uint64_t k_window = 50;
constexpr double k_hysteresis_us = 75;

std::string words_of_mean(double ns, std::uint64_t count) {
    return "mean " + quern::detail::duration_words(ns) + " of " + std::to_string(count);
}

void note_for_baseline(const frame& f, const node_data& n, double ns) {
    node_decisions& own = f.decisions_of(n);
    double mean = 0;
    std::uint64_t count = 0;
    {
        const std::scoped_lock guard(own.lock);
        count = ++own.baseline_count;
        own.baseline_ns += ns;
        mean = own.baseline_ns / static_cast<double>(count);
    }
    const bool before = own.baseline_inlines.load(std::memory_order_relaxed);
    const bool after = mean <= k_lower_ns ? true : mean >= k_upper_ns ? false : before;
    if (count >= k_paper_enough && after != before &&
        own.baseline_inlines.exchange(after, std::memory_order_relaxed) != after) {
        note_change(f, n, after, after ? "at most 350 us" : "at least 500 us",
                    words_of_mean(mean, count));
    }
}

/// Tells the search what its threshold cost, and takes the next one. Requires: the lock.
void search_further(threshold_search& own) {
    using namespace adaptation;
    if (!own.search) {
        own.search.emplace(space({integer("threshold", 200, 1'000, 100)}),
                           strategy::parallel_rank_order, tuner_options{.drift = 0});
    } else if (own.present) {  // the first window's threshold is no point of the space
        own.search->tell(*own.present, own.ns / static_cast<double>(own.count));
    }
    own.is_converged = own.search->converged();
    own.present = own.is_converged ? std::nullopt : std::optional(own.search->ask());
    const point best = own.is_converged ? own.search->best() : own.present->where;
    own.threshold_us = best["threshold"];
    own.count = 0;
    own.ns = 0;
}

void note_for_adaptive(const frame& f, const node_data& n, double ns) {
    node_decisions& own = f.decisions_of(n);
    double mean_us = 0;
    double threshold_us = 0;
    std::uint64_t count = 0;
    {
        const std::scoped_lock guard(own.lock);
        if (own.adaptive == nullptr) {
            own.adaptive = std::make_unique<threshold_search>();
        }
        threshold_search& search = *own.adaptive;
        count = ++search.count;
        search.ns += ns;
        mean_us = search.ns / static_cast<double>(count) / 1'000;
        threshold_us = search.threshold_us;
        if (count >= k_window && !search.is_converged) {
            search_further(search);
        }
    }
    const bool before = own.adaptive_inlines.load(std::memory_order_relaxed);
    const bool after = mean_us <= threshold_us - k_hysteresis_us   ? true
                       : mean_us >= threshold_us + k_hysteresis_us ? false
                                                                   : before;
    if (count >= k_paper_enough && after != before &&
        own.adaptive_inlines.exchange(after, std::memory_order_relaxed) != after) {
        note_change(f, n, after,
                    std::string(after ? "below" : "above") + " the threshold of " +
                        quern::detail::rounded(threshold_us) + " us",
                    words_of_mean(mean_us * 1'000, count));
    }
}

QUERN_COLD void note_for_paper(const frame& f, const node_data& n, tick_count time) noexcept {
    const double ns = static_cast<double>(time) * quern::detail::ns_per_tick();
    auto body = [&]() noexcept {
        try {
            f.how.rule == inlining_rule::baseline ? note_for_baseline(f, n, ns)
                                                  : note_for_adaptive(f, n, ns);
        } catch (const std::exception&) {  // no memory: as before
        }
    };
    quern::detail::on_enough_stack(body);
}

}  // namespace

std::string_view name_of(inlining_rule rule) noexcept {
    return k_rule_names[static_cast<std::size_t>(rule)];
}

std::uint32_t frame::class_of(std::span<const value> arguments) noexcept {
    constexpr std::uint64_t k_first = 1024;
    std::uint64_t bytes = 0;
    for (const value& each : arguments) {
        if (const array* const a = each.as<array>()) {
            bytes += static_cast<std::uint64_t>(a->size()) * size_of(a->type());
        }
    }
    const auto doublings = static_cast<std::uint32_t>(std::bit_width(bytes / k_first));
    return std::min((doublings + 1u) / 2u, static_cast<std::uint32_t>(k_size_classes - 1u));
}

void observe_inlining_setting() noexcept {
    if (g_is_observed.exchange(true, std::memory_order_relaxed)) {
        return;
    }
    try {
        g_setting.store(rule_named(current_settings().at("inlining").text),
                        std::memory_order_relaxed);
    } catch (const std::exception&) {  // the runtime will say what is wrong with them
    }
    add_observer(g_observer);
}

call_rule rule_of_call(inlining_rule wanted) {
    const adaptation::mode adapts = adaptation::current_mode();
    const quern::detail::pool& home = quern::detail::current_worker()->home();
    call_rule made;
    made.rule =
        wanted == inlining_rule::settings ? g_setting.load(std::memory_order_relaxed) : wanted;
    made.is_applied = adapts == adaptation::mode::on;
    made.has_one_worker =
        home.size() == 1 || home.knobs().active_workers.load(std::memory_order_relaxed) == 1;
    const bool is_of_paper =
        made.rule == inlining_rule::baseline || made.rule == inlining_rule::adaptive;
    made.tasks_alone = is_of_paper || made.rule == inlining_rule::never;
    made.times_all = is_of_paper;
    if (made.rule == inlining_rule::quern) {
        made.short_ticks = g_short_ticks.load(std::memory_order_relaxed);
        if (made.short_ticks <= 0) [[unlikely]] {
            made.short_ticks = measure_short_ticks();
            g_short_ticks.store(made.short_ticks, std::memory_order_relaxed);
        }
    }
    return made;
}

bool wants_task(const frame& f, const node_data& n) noexcept {
    const node_decisions& own = f.decisions_of(n);
    switch (f.how.rule) {
        case inlining_rule::never:
            return true;
        case inlining_rule::always:
            return false;
        case inlining_rule::baseline:
            return !f.how.is_applied || !own.baseline_inlines.load(std::memory_order_relaxed);
        case inlining_rule::adaptive:
            return !f.how.is_applied || !own.adaptive_inlines.load(std::memory_order_relaxed);
        case inlining_rule::settings:
        case inlining_rule::quern:
            break;
    }
    return !f.how.has_one_worker &&
           (!f.how.is_applied || !own.sizes[f.size_class].is_short.load(std::memory_order_relaxed));
}

void note_evaluation(const frame& f, const node_data& n, tick_count time) noexcept {
    if (f.how.rule == inlining_rule::quern) {
        note_for_quern(f, n, time);
    } else if (f.how.times_all) {
        note_for_paper(f, n, time);
    }
}

std::string reason_of(const tree_parts& all, const node_data& n) {
    if (all.counts.total(all.number_of(n)).fused > 0) {
        const node_data* last = &n;
        while (last->may_defer) {
            last = &all.nodes[last->parent];
        }
        return "fused into " + all.words_of(*last) + " of line " + std::to_string(last->where.line);
    }
    if (n.is_cheap) {
        return "takes some ns";
    }
    if (!n.may_be_task) {
        return n.may_return || n.may_leave || n.may_continue
                   ? "control may leave it"
                   : "its effects keep the order of the source";
    }
    node_decisions& own = all.decisions[all.number_of(n)];
    {
        const std::scoped_lock guard(own.lock);
        if (!own.why.empty()) {
            return own.why;
        }
    }
    const bool is_in_wave = n.parent != tree::k_none && all.nodes[n.parent].has_waves;
    return is_in_wave ? "not decided yet" : "nothing may run beside it";
}

}  // namespace quern::arrays::detail
