// SPDX-License-Identifier: BSL-1.0
// The rules that decide whether child tasks of one kind are inlined.
#include "inlining/inlining_rules.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace quern::adaptation::detail {

namespace {

constexpr double k_ns_per_us = 1'000;

constexpr std::array<std::string_view, 5> k_names = {"quern", "baseline", "adaptive", "always",
                                                     "never"};

}  // namespace

std::vector<std::string_view> inlining_rule_names() { return {k_names.begin(), k_names.end()}; }

inlining_rule inlining_rule_named(std::string_view name) noexcept {
    std::size_t at = 0;
    while (at + 1 < k_names.size() && k_names[at] != name) {
        ++at;
    }
    return static_cast<inlining_rule>(at);
}

std::string_view name_of(inlining_rule which) noexcept {
    return k_names[static_cast<std::size_t>(which)];
}

void baseline_rule::add(double ns) noexcept {
    ++m_count;
    m_ns += ns;
    if (m_count < k_enough) {
        return;
    }
    const double mean = mean_ns();
    m_mode = mean >= k_upper_ns   ? child_mode::spawned
             : mean <= k_lower_ns ? child_mode::inlined
                                  : m_mode;
}

void adaptive_rule::add(double ns) {
    ++m_count;
    m_ns += ns;
    if (m_count >= k_enough && !has_session() && !m_is_converged) {
        m_search.emplace(space({integer("threshold", k_least_us, k_most_us, k_step_us)}),
                         strategy::parallel_rank_order, tuner_options{.drift = 0});
    }
    if (m_count >= k_enough) {
        decide();
    }
    if (m_count >= k_window && has_session()) {
        next_threshold();
        m_count = 0;
        m_ns = 0;
    }
}

void adaptive_rule::decide() noexcept {
    const double mean_us = mean_ns() / k_ns_per_us;
    m_mode = mean_us >= m_threshold_us + k_hysteresis_us   ? child_mode::spawned
             : mean_us <= m_threshold_us - k_hysteresis_us ? child_mode::inlined
                                                           : m_mode;
}

/// The first window ran with the threshold from which the paper starts. It is no point of the
/// space, so the search is not told about it.
void adaptive_rule::next_threshold() {
    if (m_present) {
        m_search->tell(*m_present, mean_ns());
        m_present.reset();
    }
    if (m_search->converged()) {
        m_threshold_us = m_search->best()["threshold"];
        m_is_converged = true;
        m_search.reset();
        return;
    }
    m_present = m_search->ask();
    m_threshold_us = m_present->where["threshold"];
}

/// While children are inlined the program's tasks cost what inlined ones do: the costs are compared
/// only while they are spawned.
void quern_rule::update(double mean_ns, std::uint64_t samples, costs now) noexcept {
    if (samples < k_enough) {
        return;
    }
    const double limit_ns = k_long * std::max(now.task_ns, now.inlined_ns);
    if (m_mode == child_mode::spawned) {
        if (mean_ns < limit_ns / k_margin && now.task_ns > now.inlined_ns * k_margin) {
            m_mode = child_mode::inlined_if_fed;
        }
    } else if (mean_ns > limit_ns * k_margin) {
        m_mode = child_mode::spawned;
    }
}

}  // namespace quern::adaptation::detail
