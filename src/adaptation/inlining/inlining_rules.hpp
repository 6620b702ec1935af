// SPDX-License-Identifier: BSL-1.0
// The rules that decide whether child tasks of one kind are inlined: state machines over measured
// times, without clocks, threads and tasks, so that tests can drive them. Called by
// child_kinds.cpp, behind the lock of the kind.
#pragma once

#include <quern/adaptation/tuner.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace quern::adaptation::detail {

enum class inlining_rule : std::uint8_t { quern, baseline, adaptive, always, never };

std::vector<std::string_view> inlining_rule_names();
/// Requires: one of the names.
inlining_rule inlining_rule_named(std::string_view name) noexcept;
std::string_view name_of(inlining_rule which) noexcept;

/// How children of a kind start.
enum class child_mode : std::uint8_t {
    spawned,
    inlined,
    inlined_if_fed,  ///< spawned while other workers lack tasks
};

/// Algorithm 1 of Wagle, Monil, Huck, Malony, Serio, Kaiser, "Runtime Adaptive Task Inlining on
/// Asynchronous Multitasking Runtime Systems", ICPP 2019: two fixed thresholds for the mean time of
/// all executions so far. Between them, and before there are enough, the mode stays as it was.
class baseline_rule {
public:
    static constexpr std::uint64_t k_enough = 5;  ///< count_threshold
    static constexpr double k_lower_ns = 350e3;
    static constexpr double k_upper_ns = 500e3;

    /// An execution took so long.
    void add(double ns) noexcept;

    child_mode mode() const noexcept { return m_mode; }
    double mean_ns() const noexcept {
        return m_count != 0 ? m_ns / static_cast<double>(m_count) : 0;
    }
    std::uint64_t executions() const noexcept { return m_count; }

private:
    std::uint64_t m_count = 0;
    double m_ns = 0;
    child_mode m_mode = child_mode::spawned;
};

/// Algorithm 2 of the same paper: one threshold with hysteresis, found by a search. After
/// count_threshold_1 executions the search begins; every count_threshold_2 executions it gets their
/// mean time, gives the next threshold, and a new window begins. When it has converged the best
/// threshold stays. The paper does not say count_threshold_2; Phylanx has 50.
class adaptive_rule {
public:
    static constexpr std::uint64_t k_enough = 5;   ///< count_threshold_1
    static constexpr std::uint64_t k_window = 50;  ///< count_threshold_2
    static constexpr double k_threshold_us = 425;
    static constexpr double k_hysteresis_us = 75;
    static constexpr int k_least_us = 200;
    static constexpr int k_most_us = 1'000;
    static constexpr int k_step_us = 100;

    /// Throws std::bad_alloc, and then has not changed its threshold.
    void add(double ns);

    child_mode mode() const noexcept { return m_mode; }
    double threshold_us() const noexcept { return m_threshold_us; }
    bool has_session() const noexcept { return m_search.has_value(); }
    bool is_converged() const noexcept { return m_is_converged; }
    /// Of the present window.
    double mean_ns() const noexcept {
        return m_count != 0 ? m_ns / static_cast<double>(m_count) : 0;
    }
    std::uint64_t executions() const noexcept { return m_count; }

private:
    void decide() noexcept;
    void next_threshold();

    std::uint64_t m_count = 0;
    double m_ns = 0;
    double m_threshold_us = k_threshold_us;
    child_mode m_mode = child_mode::spawned;
    bool m_is_converged = false;
    std::optional<tuner> m_search{};
    std::optional<trial> m_present{};
};

/// Quern's own rule, for the part that is not about the state of the workers. Children are spawned
/// if they are long against the overhead of a task, or if a queued task costs no more than an
/// inlined one on its own stack; the others are inlined while other workers have work. At the limit
/// of length inlining would save at most 1/k_long of the time. Around both limits the mode stays.
class quern_rule {
public:
    static constexpr double k_long = 50;          ///< overheads of a task: 2 % are left to gain
    static constexpr double k_margin = 1.25;      ///< (guessed: twice the noise of means)
    static constexpr std::uint64_t k_enough = 8;  ///< timed pieces (guessed)

    /// What the program's tasks cost now, and what an inlined child would.
    struct costs {
        double task_ns = 0;
        double inlined_ns = 0;
    };
    void update(double mean_ns, std::uint64_t samples, costs now) noexcept;

    child_mode mode() const noexcept { return m_mode; }

private:
    child_mode m_mode = child_mode::spawned;
};

}  // namespace quern::adaptation::detail
