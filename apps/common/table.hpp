// SPDX-License-Identifier: BSL-1.0
// The output of the applications: a table of variants with ratios to the serial one. Compare the
// ratios; the milliseconds depend on the machine and its load.
#pragma once

#include "measure.hpp"

#include <quern/quern.hpp>

#include <fmt/format.h>

#include <vector>

namespace apps {

/// The workers' activity while f() ran.
template <class F>
quern::worker_totals totals_of(const quern::runtime& rt, F&& f) {
    const quern::worker_totals before = rt.totals();
    f();
    quern::worker_totals after = rt.totals();
    after -= before;
    return after;
}

/// Where the workers' time went during the parallel runs, and how often work moved.
inline void print_workers(const quern::worker_totals& t) {
    const auto share = [&t](double ns) { return t.total_ns() > 0 ? 100 * ns / t.total_ns() : 0; };
    fmt::print(
        "  workers: running {:.1f} %, managing {:.1f} %, idle {:.1f} %; {} steals, "
        "{} suspensions, {} sleeps\n",
        share(t.running_ns), share(t.managing_ns), share(t.idle_ns), t.stolen, t.suspensions,
        t.parks);
}

/// Median and best time of each variant, and the ratio of its median to that of the first variant;
/// the same ratio of processor time, which depends less on other programs on the machine.
/// `beside`: the title of the column of ratios.
inline void print_ratios(const std::vector<variant>& variants, const char* beside = "x serial") {
    std::size_t width = 7;
    for (const variant& v : variants) {
        width = std::max(width, v.name.size());
    }
    fmt::print("  {:<{}}  {:>12}  {:>12}  {:>9}  {:>9}\n", "variant", width, "median ms", "best ms",
               beside, "cpu x");
    const variant& serial = variants.front();
    for (const variant& v : variants) {
        fmt::print("  {:<{}}  {:>12.3f}  {:>12.3f}  {:>9.3f}  {:>9.3f}\n", v.name, width,
                   v.middle() * 1e3, v.best() * 1e3, v.middle() / serial.middle(),
                   median(v.processor) / median(serial.processor));
    }
}

/// How the times were taken.
inline void print_workers_and_runs(const quern::runtime& rt, int repeat) {
    fmt::print("{} worker{}, policy {}, median of {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy(), repeat);
}

/// What each variant did in a second, by its median time. `amount`: of a run, in `unit` times s.
inline void print_rates(const std::vector<variant>& variants, double amount, const char* unit) {
    const char* separator = "";
    fmt::print("  {}: ", unit);
    for (const variant& v : variants) {
        fmt::print("{}{} {:.2f}", separator, v.name, amount / v.middle());
        separator = ", ";
    }
    fmt::print("\n");
}

}  // namespace apps
