// SPDX-License-Identifier: BSL-1.0
// The throttles: what each measures in a period, its rule (throttle_rules.hpp), and the knob. Run
// as policies, so they hold no lock and no task waits for them. A level, such as the length of a
// queue, is read several times in a period, and its mean counts.
#include <quern/adaptation/throttling.hpp>

#include "policies/policy_state.hpp"
#include "throttling/throttle_rules.hpp"

#include <quern/base/detail/text.hpp>
#include <quern/scheduler/sites.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

using detail::cap_choice;
using detail::cap_range;
using detail::cap_reading;
using std::chrono::nanoseconds;

constexpr int k_samples = 16;                             // of a level in a period (chosen)
constexpr std::chrono::milliseconds k_least_interval{1};  // between two of them

/// Between two calls of a throttle.
nanoseconds interval_of_samples(nanoseconds period) {
    return std::max(period / k_samples, std::min<nanoseconds>(period, k_least_interval));
}

/// What was measured since the previous call, so long ago; nothing if that says nothing, or if the
/// period is not over.
using meter = std::function<std::optional<cap_reading>(policy_context&, nanoseconds since)>;
/// A rule and its state.
using rule = std::function<cap_choice(const cap_reading&)>;
using make_rule = std::function<rule(cap_range range, unsigned start)>;

constexpr std::string_view k_knob = "active-workers";

/// One throttle; lives as long as its policy.
class throttle {
public:
    throttle(throttle_options how, meter measure, make_rule make)
        : m_how(std::move(how)), m_measure(std::move(measure)), m_make(std::move(make)) {}

    void operator()(policy_context& now) {
        if (!now.has_pool()) {
            return;  // it waits for one
        }
        const auto at = clock::now();
        const nanoseconds since = at - std::exchange(m_last, at);
        if (is_new(now.pool())) {
            m_measure(now, m_how.period);  // from here on
            return;
        }
        if (const auto reading = m_measure(now, since)) {
            m_choice = m_rule(*reading);
        }
        const unsigned set = m_choice.is_trial ? now.set_trial(k_knob, m_choice.cap, m_choice.why)
                                               : now.set(k_knob, m_choice.cap, m_choice.why);
        if (set != m_choice.cap && current_mode() == mode::on) {
            now.stop();  // the program has set the knob
        }
    }

private:
    using clock = std::chrono::steady_clock;

    /// Of a pool that it has not seen before it chooses anew.
    bool is_new(const pool_ref& pool) {
        const quern::detail::pool* const before = std::exchange(m_pool, &pool.get());
        const unsigned workers = std::exchange(m_workers, pool.workers());
        if (before == m_pool && workers == m_workers) {
            return false;
        }
        const unsigned most = m_how.most == 0 ? m_workers : std::min(m_how.most, m_workers);
        const cap_range range{std::min(m_how.least, most), most};
        m_choice = {range.clamp(pool.active_workers()), "the range of the throttle"};
        m_rule = m_make(range, m_choice.cap);
        return true;
    }

    const throttle_options m_how;
    const meter m_measure;
    const make_rule m_make;
    const quern::detail::pool* m_pool = nullptr;  ///< compared only
    unsigned m_workers = 0;
    rule m_rule;
    cap_choice m_choice;
    clock::time_point m_last{};
};

/// `interval`: between two calls of the meter; 0: a period.
policy_handle start(const char* name, throttle_options how, meter measure, make_rule make,
                    nanoseconds interval = {}) {
    if (how.name.empty()) {
        how.name = name;
    }
    if (how.least < 1 || (how.most != 0 && how.most < how.least)) {
        throw std::invalid_argument("quern: throttle '" + how.name + "' needs a range of workers");
    }
    const policy_options options{.pool = how.pool, .budget = how.budget};
    const nanoseconds between = interval.count() > 0 ? interval : how.period;
    const std::string policy = how.name;
    auto run = std::make_shared<throttle>(std::move(how), std::move(measure), std::move(make));
    return every(
        between, policy, [run](policy_context& now) { (*run)(now); }, options);
}

template <class Rule>
make_rule rule_of(typename Rule::settings settings) {
    return [settings](cap_range range, unsigned start) mutable -> rule {
        settings.range = range;
        auto made = std::make_shared<Rule>(settings, start);
        return [made](const cap_reading& period) { return made->next(period); };
    };
}

double per_second(double count, nanoseconds since) {
    return since.count() > 0 ? count / std::chrono::duration<double>(since).count() : 0;
}

/// Calls of a site per second, and the time of one.
meter meter_of_site(std::string site) {
    struct seen {
        double calls = 0;
        double ns = 0;
    };
    return [site = std::move(site), before = seen()](
               policy_context& now, nanoseconds since) mutable -> std::optional<cap_reading> {
        seen all;
        // A new site needs a name, and the first of them the debug information of the program.
        std::optional<detail::off_budget> finds_names(std::in_place);
        const std::vector<site_statistics> sites = all_sites();
        finds_names.reset();
        for (const site_statistics& each : sites) {
            if (each.id == site || each.name == site) {
                all.calls += each.calls;
                all.ns += each.exclusive_ns;
            }
        }
        const seen last = std::exchange(before, all);
        const double calls = all.calls - last.calls;
        if (calls <= 0) {
            return std::nullopt;
        }
        const cap_reading found{per_second(calls, since), (all.ns - last.ns) / calls};
        now.add_input(site + " " + quern::detail::amount_words(found.metric) + " calls/s of " +
                      quern::detail::duration_words(found.time_per_call));
        return found;
    };
}

/// The values of a counter in a period: the mean of a level and of a ratio, all of a sum. A reading
/// for which the counter has no value yet is left out; without any the period is.
class period_of_counter {
public:
    period_of_counter(std::string counter, nanoseconds period)
        : m_counter(std::move(counter)), m_period(period) {}

    std::optional<cap_reading> operator()(policy_context& now, nanoseconds since) {
        const counters::counter_value one = now.try_counter(m_counter);
        if (one.ok()) {
            m_sum += one.value;
            ++m_count;
        } else if (one.state != counters::source_state::not_yet) {
            now.counter(m_counter);  // throws the reason
        }
        m_time += since;
        if (m_time + interval_of_samples(m_period) / 2 < m_period) {
            return std::nullopt;
        }
        const bool is_sum = one.kind == counters::counter_kind::sum;
        const double sum = std::exchange(m_sum, 0);
        const int count = std::exchange(m_count, 0);
        const nanoseconds time = std::exchange(m_time, nanoseconds{});
        if (count == 0) {
            return std::nullopt;
        }
        const double found = is_sum ? per_period(sum, time) : sum / count;
        if (count > 1) {
            now.add_input((is_sum ? "a period " : "mean of the period ") +
                          quern::detail::rounded(found));
        }
        return cap_reading{found, 0};
    }

private:
    /// A period may be longer than it should be.
    double per_period(double sum, nanoseconds time) const {
        return time.count() > 0 ? sum * (std::chrono::duration<double>(m_period) / time) : sum;
    }

    const std::string m_counter;
    const nanoseconds m_period;
    nanoseconds m_time{};
    double m_sum = 0;
    int m_count = 0;
};

meter meter_of_work(std::string counter) {
    return [counter = std::move(counter)](policy_context& now,
                                          nanoseconds since) -> std::optional<cap_reading> {
        const double done = now.counter(counter);
        return done > 0 ? std::optional(cap_reading{per_second(done, since), 0}) : std::nullopt;
    };
}

void require_sites(const std::string& site) {
    if (site.empty()) {
        throw std::invalid_argument("quern: throttle_by_throughput() needs the name of a site");
    }
    if (!counts_sites()) {
        throw std::runtime_error(
            "quern: calls of sites are not counted: the library was built without counters");
    }
}

}  // namespace

policy_handle throttle_by_queue(throttle_options how) {
    period_of_counter measure(how.metric, how.period);
    const nanoseconds interval = interval_of_samples(how.period);
    return start("throttle-by-queue", std::move(how), std::move(measure),
                 rule_of<detail::hill_climb_rule>({.what = detail::hill_climb_rule::aim::least}),
                 interval);
}

policy_handle throttle_by_throughput(std::string site, throttle_options how) {
    require_sites(site);
    return start("throttle-by-throughput", std::move(how), meter_of_site(std::move(site)),
                 rule_of<detail::hill_climb_rule>(
                     {.what = detail::hill_climb_rule::aim::most, .periods = 3}));
}

policy_handle throttle_by_saturation(throttle_options how) {
    if (!how.site.empty()) {
        require_sites(how.site);
    }
    meter measure = how.site.empty() ? meter_of_work(how.work) : meter_of_site(how.site);
    return start("throttle-by-saturation", std::move(how), std::move(measure),
                 rule_of<detail::fewest_rule>({}));
}

policy_handle power_cap(double low_watts, double high_watts, throttle_options how) {
    if (!(low_watts >= 0 && low_watts < high_watts)) {
        throw std::invalid_argument(
            "quern: power_cap() needs a low cap of at least 0 W and a high "
            "cap above it");
    }
    const std::shared_ptr<power_source> power = how.power != nullptr ? how.power : live_power();
    const std::string prefix =
        power->label() == "live" ? "power " : std::string(power->label()) + " power ";
    const auto measure = [power](policy_context& now,
                                 nanoseconds since) -> std::optional<cap_reading> {
        const std::optional<double> watts = power->watts(now.pool(), since);
        return watts ? std::optional(cap_reading{*watts, 0}) : std::nullopt;
    };
    const auto make = [=](cap_range range, unsigned first) -> rule {
        const detail::power_rule::settings settings{range, low_watts, high_watts};
        return [prefix,
                made = detail::power_rule(settings, first)](const cap_reading& period) mutable {
            cap_choice choice = made.next(period.metric);
            choice.why = prefix + choice.why;
            return choice;
        };
    };
    return start("power-cap", std::move(how), measure, make);
}

}  // namespace quern::adaptation
