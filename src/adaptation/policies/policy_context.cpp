// SPDX-License-Identifier: BSL-1.0
// What a policy reads and sets during a call. Runs on the thread that calls the policy, without a
// lock of the layer: counters and knobs may be functions of the program.
#include "policies/policy_state.hpp"
#include "runtimes/knob_owners.hpp"

#include <quern/adaptation/policy.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/knobs.hpp>

#include <algorithm>
#include <utility>

namespace quern::adaptation {

namespace detail {

void policy_counters::begin_call(const std::shared_ptr<living_runtime>& of) {
    if (of != m_of) {
        *this = policy_counters();
        m_of = of;
    } else if (m_set) {
        m_values = m_set->evaluate(true).values;
    }
}

const counters::counter_value* policy_counters::known(std::string_view name) const noexcept {
    const auto found = std::find(m_names.begin(), m_names.end(), name);
    return found != m_names.end() ? &m_values[static_cast<std::size_t>(found - m_names.begin())]
                                  : nullptr;
}

/// A new one counts from the start of the runtime in this call, and from now in later ones. A
/// runtime that has just begun may have no counters yet.
counters::counter_value policy_counters::value(std::string_view name) {
    if (const auto* const one = known(name)) {
        return *one;
    }
    try {
        return add(name);
    } catch (const std::invalid_argument&) {
        throw;
    } catch (const std::logic_error& error) {
        return {.name = std::string(name),
                .unit = "",
                .state = counters::source_state::not_yet,
                .why = error.what()};
    }
}

const counters::counter_value& policy_counters::add(std::string_view name) {
    counters::counter_set first(*m_of->which, counters::baseline::start);
    if (const std::size_t found = first.add(name); found != 1) {
        throw std::invalid_argument("quern: '" + std::string(name) + "' stands for " +
                                    std::to_string(found) + " counters; a policy reads one");
    }
    if (!m_set) {
        m_set.emplace(*m_of->which);
    }
    m_set->add(name);
    m_names.emplace_back(name);
    return m_values.emplace_back(std::move(first.evaluate().values.front()));
}

namespace {

living_runtime& runtime_for(const policy_call& now) {
    living_runtime* const one = now.runtime.get();
    if (one == nullptr) {
        throw std::logic_error("quern: policy '" + now.of.name() +
                               "' needs a runtime, and none is alive");
    }
    return *one;
}

/// Rates are counted in hundredths of a percent, as HPX does, and read as percent.
std::string words_of(std::string_view name, const counters::counter_value& value) {
    using quern::detail::rounded;
    const std::string known(name);
    if (!value.ok()) {
        return known + ": " + value.why;
    }
    if (value.unit == "0.01 %") {
        return known + " " + rounded(value.value / 100) + " %";
    }
    return known + " " + rounded(value.value) + (value.unit.empty() ? "" : " " + value.unit);
}

std::string joined(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& each : all) {
        text += (text.empty() ? "" : ", ") + each;
    }
    return text;
}

}  // namespace
}  // namespace detail

const policy_event* policy_context::event() const noexcept { return m_call->event; }

double policy_context::value() const noexcept {
    return m_call->event != nullptr ? m_call->event->value : 0;
}

pool_ref policy_context::pool() const {
    const detail::living_runtime& runtime = detail::runtime_for(*m_call);
    return m_call->of.what().how.pool.value_or(runtime.pools.front());
}

bool policy_context::has_pool() const noexcept { return m_call->runtime.get() != nullptr; }

counters::counter_value policy_context::try_counter(std::string_view name) {
    detail::runtime_for(*m_call);
    counters::counter_value value = m_call->of.of_calls().value(name);
    add_input(detail::words_of(name, value));
    return value;
}

double policy_context::counter(std::string_view name) {
    const counters::counter_value value = try_counter(name);
    if (value.ok()) {
        return value.value;
    }
    const std::string why = "quern: counter '" + std::string(name) + "' has no value: " + value.why;
    if (value.state == counters::source_state::not_yet) {
        throw detail::no_value_yet(why);
    }
    throw std::runtime_error(why);
}

void policy_context::add_input(std::string text) {
    auto& all = m_call->inputs;
    if (std::find(all.begin(), all.end(), text) == all.end()) {
        all.push_back(std::move(text));
    }
}

unsigned policy_context::get(std::string_view knob) const { return pool().knob(knob); }

unsigned policy_context::set(std::string_view knob, unsigned value, std::string why) {
    return set_for(knob, value, std::move(why), false);
}

unsigned policy_context::set_trial(std::string_view knob, unsigned value, std::string why) {
    return set_for(knob, value, std::move(why), true);
}

unsigned policy_context::set_for(std::string_view knob, unsigned value, std::string why,
                                 bool is_trial) {
    const quern::knob& row = quern::detail::find_knob(knob);
    quern::detail::pool& of = pool().get();
    const unsigned now = row.get(of);
    const unsigned wanted = std::clamp(value, row.least, row.most);
    const bool is_dry = current_mode() != mode::on;
    const detail::knob_wish wish{&m_call->of, m_call->of.name(), &of, &row, now, wanted,
                                 is_dry,      is_trial};
    const auto log_that = [&](unsigned after, bool applied, std::string reason) {
        log({.policy = m_call->of.name(),
             .subject = std::string(knob),
             .unit = std::string(row.unit),
             .before = static_cast<double>(now),
             .after = static_cast<double>(after),
             .inputs = detail::joined(m_call->inputs),
             .why = std::move(reason),
             .applied = applied,
             .is_trial = is_trial});
    };
    if (m_call->of.has_ended()) {
        return now;
    }
    switch (detail::ask_for_knob(wish)) {
        case detail::knob_answer::leave:
            return now;
        case detail::knob_answer::program_has:
            log_that(now, false, "the program has set it since, and its value stays");
            return now;
        case detail::knob_answer::another_has:
            log_that(wanted, false, "another policy owns the knob");
            return now;
        case detail::knob_answer::set:
            break;
    }
    if (is_dry) {
        log_that(wanted, false, std::move(why));
        return now;
    }
    const unsigned after = quern::detail::set_within(row, of, wanted);
    detail::remember_set(wish, after);
    log_that(after, true, std::move(why));
    return after;
}

void policy_context::stop() noexcept { m_call->of.end(); }

}  // namespace quern::adaptation
