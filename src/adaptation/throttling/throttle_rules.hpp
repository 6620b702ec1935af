// SPDX-License-Identifier: BSL-1.0
// The rules by which throttles (throttling.cpp) choose how many workers may run: state machines
// that are told a measurement each period and answer with the next cap. Pure: no clock, no pool, no
// log, so that tests drive them with synthetic plants.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace quern::adaptation::detail {

/// How many workers a rule may choose. Requires: 1 <= least <= most.
struct cap_range {
    unsigned least = 1;
    unsigned most = 1;

    unsigned clamp(long cap) const noexcept;
};

/// For the next period.
struct cap_choice {
    unsigned cap = 1;
    std::string why{};
    bool is_trial = false;  ///< to be measured; the choice follows
};

/// One period, at the cap that was chosen last.
struct cap_reading {
    double metric = 0;
    double time_per_call =
        0;  ///< decides between caps whose metrics are within the band; 0: unknown
};

/// Whether the load has changed since a rule has settled: the mean of the last three periods is off
/// that of the first three, by the limit and by more than the periods differ among each other. A
/// rule that looks again and finds the same cap waits twice as long before it may look next, so
/// that noise costs less and less.
class drift_watch {
public:
    explicit drift_watch(double limit) noexcept : m_limit(limit) {}

    /// The rule has settled on this cap.
    void begin(unsigned cap);
    bool drifts(double metric);

private:
    static constexpr std::size_t k_window = 3;    // periods (APEX's window)
    static constexpr unsigned k_first_rest = 20;  // periods: 2 s of 100 ms (guessed)
    static constexpr unsigned k_longest_rest = 640;
    static constexpr double k_sure = 4;  // standard errors: once in 16 000 periods by chance

    double noise() const noexcept;

    double m_limit;
    double m_reference = 0;
    std::deque<double> m_last;
    double m_changes = 0;  ///< squares of the differences of neighbouring periods, together
    unsigned m_periods = 0;
    unsigned m_rest = k_first_rest;
    std::optional<unsigned> m_cap;
};

/// Discrete hill climbing: measures the cap, a lower and a higher one, and moves to the best. The
/// distance is a quarter of the range at first; it halves when neither neighbour is better by more
/// than the band. At distance 1 the rule has settled: it keeps the cap until the metric drifts.
/// Every move improves the metric by the band, so it ends also with noise.
///
/// Source: APEX's one-dimensional stencil cap-1, cap, cap+1 (Grubel 2016, ch. 7); the distance is
/// added, because steps of 1 from 48 workers to 13 take 100 periods.
class hill_climb_rule {
public:
    enum class aim { least, most };
    struct settings {
        cap_range range{};
        aim what = aim::least;
        double band = 0.05;    ///< relative (APEX)
        unsigned periods = 1;  ///< measured for each cap; the mean counts
        double drift = 0.25;   ///< relative (guessed)
    };

    hill_climb_rule(const settings& how, unsigned start);

    cap_choice next(const cap_reading& period);
    bool is_settled() const noexcept { return m_is_settled; }
    unsigned cap() const noexcept { return m_cap; }

private:
    void restart();
    void measured(const cap_reading& mean);
    bool is_better(const cap_reading& one, const cap_reading& than) const noexcept;
    /// The nearest one that has to be measured; nothing if both are known not to be better.
    std::optional<unsigned> neighbour() const;
    std::string words() const;

    settings m_how;
    unsigned m_cap;
    unsigned m_best;
    unsigned m_distance = 1;
    bool m_goes_down = true;
    bool m_is_settled = false;
    std::map<unsigned, cap_reading> m_known;  ///< since the last restart
    cap_reading m_sum{};
    unsigned m_count = 0;
    drift_watch m_drift;
};

/// The fewest workers with a throughput within 2 % of the best. First hill climbing finds the best
/// cap. Then halving finds the fewest: a candidate and the best cap are measured in turns, best,
/// candidate, candidate, best, so that a slow change of the machine's speed cancels. One pair is
/// enough for a clear difference. Then it watches, and begins anew when the throughput drifts.
class fewest_rule {
public:
    struct settings {
        cap_range range{};
        double within = 0.02;
        double clear = 0.10;  ///< a pair that differs by more decides alone (guessed)
        double drift = 0.15;  ///< relative (guessed)
    };

    fewest_rule(const settings& how, unsigned start);

    cap_choice next(const cap_reading& period);
    bool is_settled() const noexcept { return m_phase == phase::settled; }
    unsigned cap() const noexcept { return m_cap; }

private:
    enum class phase { climbing, halving, settled };

    void begin_halving(unsigned best);
    void begin_candidate();
    void decide(double ratio);
    bool is_turn_of_best() const noexcept { return m_turn == 0 || m_turn == 3; }

    const settings m_how;
    hill_climb_rule m_climb;
    phase m_phase = phase::climbing;
    unsigned m_cap;
    unsigned m_best = 1;
    unsigned m_low = 1;   ///< the fewest that may do
    unsigned m_high = 1;  ///< does
    unsigned m_turn = 0;
    double m_sum_of_best = 0;
    double m_sum_of_candidate = 0;
    drift_watch m_drift;
};

/// Keeps power below a cap: above `high` in this period or in the mean of the last three, half of
/// the workers above the least stop; below `low` in both, one more may run. After a change it waits
/// for three periods.
///
/// Source: APEX's rule. Added: it does not return to a cap that was too hot while the power per
/// worker seen then says that it would be too hot again, so that bands narrower than the power of a
/// worker do not make it swing. It forgets that when the load has become lighter by a fifth, and
/// after 600 periods below the low cap, since the load may have ended at once; each time that
/// proves wrong it waits twice as long.
class power_rule {
public:
    struct settings {
        cap_range range{};
        double low_watts = 0;
        double high_watts = 0;
    };

    power_rule(const settings& how, unsigned start);

    cap_choice next(double watts);
    unsigned cap() const noexcept { return m_cap; }

private:
    static constexpr std::size_t k_window = 3;         // periods (APEX)
    static constexpr unsigned k_steady = 20;           // periods after a change (guessed)
    static constexpr unsigned k_first_patience = 600;  // periods: a minute of 100 ms
    static constexpr unsigned k_longest_patience = 38'400;

    double mean() const noexcept;
    bool would_be_too_hot() noexcept;
    void forget_heat_of_another_load() noexcept;
    void move_to(unsigned cap);

    const settings m_how;
    unsigned m_cap;
    unsigned m_waits = 0;
    std::deque<double> m_last;
    unsigned m_hot_cap = 0;  ///< 0: none was too hot
    double m_hot_watts = 0;
    unsigned m_periods = 0;     ///< since the last change
    double m_steady_watts = 0;  ///< k_steady periods after it
    unsigned m_patience = k_first_patience;
    unsigned m_too_cold = 0;  ///< periods in which only the heat seen before kept the cap
};

}  // namespace quern::adaptation::detail
