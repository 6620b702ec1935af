// SPDX-License-Identifier: BSL-1.0
// Throttling: policies of Quern's own that choose how many workers of a pool may take work, the
// knob active-workers. Each function starts one; one throttle at a time owns the knob of a pool.
// The other workers sleep. Where a throttle cannot measure, it refuses to start and says why.
#pragma once

#include <quern/adaptation/policy.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/topology/system_root.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::adaptation {

/// Where power in watts comes from. Used by one thread at a time.
class power_source {
public:
    power_source() = default;
    power_source(const power_source&) = delete;
    power_source& operator=(const power_source&) = delete;
    virtual ~power_source() = default;

    /// "live", or what a decision must say because the numbers are not measured: "simulated".
    virtual std::string_view label() const noexcept = 0;

    /// The mean since the previous call, which was so long ago; nothing if there is none yet.
    /// Throws std::runtime_error with the reason if there will be none.
    virtual std::optional<double> watts(const pool_ref& of, std::chrono::nanoseconds since) = 0;
};

/// The counter /power/package: all packages, other programs included. Throws std::runtime_error
/// with the reason where it cannot be read. Another root is for tests.
std::shared_ptr<power_source> live_power(topology::system_root root = {});

/// These watts, one each period, from the first again after the last. Throws std::invalid_argument
/// for none.
std::shared_ptr<power_source> replayed_power(std::vector<double> watts);

/// A chip with so much power at rest and for each worker that runs. The number of workers that run
/// is measured at the pool.
struct simulated_chip {
    double idle_watts = 20;
    double watts_per_worker = 10;
    /// In this time the power makes up 63 % of the difference.
    std::chrono::nanoseconds lag = std::chrono::milliseconds(200);
};
std::shared_ptr<power_source> simulated_power(const simulated_chip& chip = {});

struct throttle_options {
    /// Of the policy; empty: that of the function, with hyphens: "throttle-by-queue".
    std::string name{};
    /// None: the first pool of the oldest runtime alive.
    std::optional<pool_ref> pool{};
    /// Between two measurements. Should be long against the tasks.
    std::chrono::nanoseconds period = std::chrono::milliseconds(100);
    unsigned least = 1;  ///< workers that always run
    unsigned most = 0;   ///< workers that may run; 0: all of the pool
    std::chrono::nanoseconds budget = std::chrono::seconds(1);  ///< as policy_options::budget

    /// Of throttle_by_queue: the counter to keep small. A sum counts for each period; of a level
    /// and a ratio the mean of the period counts, of 16 readings at most.
    std::string metric = "/threadqueue/length";
    /// Of throttle_by_saturation: the counter of work done, a sum. Empty with a site.
    std::string work = "/threads/count/cumulative";
    /// Of throttle_by_saturation: calls of this site are the work done, as throttle_by_throughput.
    std::string site{};
    /// Of power_cap. None: live_power().
    std::shared_ptr<power_source> power{};
};

/// Keeps a metric small, by default the number of queued tasks, by discrete hill climbing. It
/// measures fewer and more workers than now, one period each, and moves to the best, until
/// neither is better by 5 %; it measures again when the metric has drifted by a quarter, and by
/// more than it changes from period to period.
///
/// The throttle ends when the program sets the knob itself. In a dry run it logs what it would do;
/// since nothing changes, it cannot learn what that would bring.
///
/// Thread safe. Throws as every(); std::invalid_argument also for a range of workers that is empty.
/// A counter that is unknown or cannot be read ends it, with the reason; periods in which it has no
/// value yet do not count.
///
///     auto kept = quern::adaptation::throttle_by_queue({.metric =
///     "/os/context-switches/involuntary"});
[[nodiscard]] policy_handle throttle_by_queue(throttle_options how = {});

/// Makes the calls of a site per second many. The site is site_statistics::id or name. Three
/// periods for each number of workers; 5 % is a difference, and within it the time per call
/// decides. Else as throttle_by_queue. Periods without a call of the site do not count. Throws
/// std::runtime_error if the library was built without counters, std::invalid_argument without a
/// name.
///
/// Source: the throughput rule of APEX.
///
///     auto kept = quern::adaptation::throttle_by_throughput("relax");
[[nodiscard]] policy_handle throttle_by_throughput(std::string site, throttle_options how = {});

/// Finds the fewest workers within 2 % of the best throughput: numbers of workers are compared in
/// turns, so that a slow change of the machine's speed cancels. Measures again when the throughput
/// has drifted by 15 %. Periods without work do not count. Else as throttle_by_queue.
///
///     auto kept = quern::adaptation::throttle_by_saturation({.work = "/app/steps"});
[[nodiscard]] policy_handle throttle_by_saturation(throttle_options how = {});

/// Keeps the power of the machine between two caps, in watts. Above the high one, in this period or
/// in the mean of three, half of the workers above the least stop; below the low one, one more may
/// run. Decisions with a source that is not live say so. Throws std::invalid_argument unless
/// 0 <= low < high; std::runtime_error with the reason if power cannot be read here; else as
/// throttle_by_queue.
///
/// Source: APEX's rule, which reported 22 % less energy for 3.6 % more time with LULESH.
///
///     auto kept = quern::adaptation::power_cap(60, 80,
///         {.power = quern::adaptation::simulated_power()});
[[nodiscard]] policy_handle power_cap(double low_watts, double high_watts,
                                      throttle_options how = {});

}  // namespace quern::adaptation
