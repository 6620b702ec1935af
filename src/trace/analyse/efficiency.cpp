// SPDX-License-Identifier: BSL-1.0
// Computes the parts and their sum, and formats the verdict. The advice on each loss is in
// remedies.cpp.
#include <quern/trace/efficiency.hpp>

#include "analyse/remedies.hpp"
#include "analyse/words.hpp"

#include <quern/scheduler/detail/blocked_time.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace quern::trace {

namespace {

using detail::count_words;
using detail::percent_words;

/// Above this share of work, or below this share of the largest loss, there is no advice. Guessed:
/// on a shared machine, runs of the same program differ by about as much.
constexpr double k_good_work = 0.90;
constexpr double k_small_loss = 0.05;

/// Time taken by others is reported from this share of the workers' time on. Guessed: the processes
/// of a quiet system take 1 to 2 % of a machine with two processors.
constexpr double k_much_taken = 0.05;

/// Replaces a negative or non-finite value of the recording by 0.
double sane(double value) { return std::isfinite(value) && value > 0.0 ? value : 0.0; }

void add_totals(efficiency& into, const recording& run) {
    into.workers = run.lanes.size();
    for (const lane& one : run.lanes) {
        quern::detail::time_parts parts{.in_tasks_ns = sane(one.totals.running_ns),
                                        .managing_ns = sane(one.totals.managing_ns),
                                        .idle_ns = sane(one.totals.idle_ns)};
        into.making_ns += std::min(sane(one.totals.making_ns), parts.managing_ns);
        if (one.blocked_ns) {
            const double blocked = std::min(sane(*one.blocked_ns), parts.in_tasks_ns);
            into.blocked_ns = into.blocked_ns.value_or(0.0) + blocked;
            parts.in_tasks_ns -= blocked;
        }
        if (one.lost_ns) {
            parts = without_losses(parts, {sane(*one.lost_ns), sane(one.lost_idle_ns)});
            into.lost_ns = into.lost_ns.value_or(0.0) + parts.lost_ns;
        }
        into.work_ns += parts.in_tasks_ns;
        into.overhead_ns += parts.managing_ns;
        into.starvation_ns += parts.idle_ns;
        into.tasks += one.totals.tasks;
    }
    into.total_ns = into.work_ns + into.overhead_ns + into.starvation_ns +
                    into.blocked_ns.value_or(0.0) + into.lost_ns.value_or(0.0);
    into.taken_ns = std::min(sane(run.taken.total_ns()), into.total_ns);
}

/// Moves the inflation out of the work: how much longer the tasks of each site took than alone.
/// Gains of other sites are not subtracted. A gain mostly comes from a part of the task, such as a
/// loop, that was serial on one worker and now runs as parallel tasks of another site.
void separate_inflation(efficiency& into, const recording& run, const calibration& one_core) {
    double known_ns = 0.0;
    double all_ns = 0.0;
    double longer_ns = 0.0;
    for (const site& one : run.sites) {
        all_ns += sane(one.total_ns);
        const one_core_time* const alone = one_core.find(one);
        if (alone != nullptr && detail::comparable(one, *alone)) {
            known_ns += sane(one.total_ns);
            longer_ns += detail::longer_than_alone(one, *alone);
        }
    }
    into.calibrated = all_ns > 0.0 ? known_ns / all_ns : 0.0;
    if (known_ns > 0.0) {
        // A task that is preempted takes longer too: that is lost, and no inflation.
        const double other_ns = std::max(longer_ns - into.lost_ns.value_or(0.0), 0.0);
        into.inflation_ns = std::min(other_ns, into.work_ns);
        into.work_ns -= *into.inflation_ns;
    }
}

loss_kind largest_loss(const efficiency& of) {
    const std::array<std::pair<double, loss_kind>, 4> losses{
        {{of.overhead_ns, loss_kind::overhead},
         {of.starvation_ns, loss_kind::starvation},
         {of.blocked_ns.value_or(0.0), loss_kind::blocked},
         {of.inflation_ns.value_or(0.0), loss_kind::inflation}}};
    const auto* const most = std::max_element(losses.begin(), losses.end());
    const bool good =
        of.share_of_own(of.work_ns) >= k_good_work || of.share(most->first) < k_small_loss;
    return good ? loss_kind::none : most->second;
}

std::string headline(const efficiency& of) {
    if (of.total_ns <= 0.0) {
        return "Nothing was measured: no worker has run.";
    }
    const bool is_known = of.inflation_ns || of.workers == 1;
    const std::string share = percent_words(of.share(of.work_ns)) + " of the time of " +
                              count_words(of.workers, "worker") + " was ";
    if (of.largest == loss_kind::none && !is_known) {
        return share + "in tasks; how much of that is work is not known.";
    }
    const bool is_good = of.largest == loss_kind::none && of.share(of.taken_ns) <= k_much_taken;
    return (is_good ? "A good run: " : "") + share + "work.";
}

std::uint64_t tasks_of(const recording& run) {
    std::uint64_t all = 0;
    for (const site& one : run.sites) {
        all += one.tasks;
    }
    return all;
}

std::string note(const efficiency& of, const recording& run, const calibration& one_core) {
    std::string text = one_core.fault;
    const auto add = [&text](const std::string& more) {
        text.append(text.empty() ? "" : " ").append(more);
    };
    if (!text.empty()) {
        text.append(".");
    }
    if (!of.inflation_ns && of.tasks != 0 && (of.largest != loss_kind::none || of.workers == 1)) {
        add("Inflation is unknown and counted as work: run once with `quern run --calibrate`.");
    } else if (of.inflation_ns && of.calibrated < 0.995) {
        add("Inflation is that of the sites in the calibration, " + percent_words(of.calibrated) +
            " of the task time.");
    }
    if (run.tasks_seen != 0 && run.tasks_seen < tasks_of(run)) {
        add("Of about " + count_words(tasks_of(run), "task") + " " + count_words(run.tasks_seen) +
            " were recorded: those shorter than 2 µs are a sample, and what is said of each kind "
            "of them is estimated.");
    }
    const std::string others = detail::sites_with_other_counts(run, one_core);
    if (of.workers > 1 && !others.empty()) {
        add(others);
    }
    if (run.stopped_ns > 0.0) {
        add("The process was stopped for " + detail::duration_words(run.stopped_ns) +
            ", by a signal or with its group: that time is lost.");
    }
    if (!run.why_no_lines.empty()) {
        add("No line of the source is known: " + run.why_no_lines + ".");
    }
    return text;
}

/// "  overhead     25 %  ##########"
std::string line(std::string_view name, const efficiency& of, double part_ns) {
    constexpr double k_columns = 50.0;
    const double share = of.share(part_ns);
    std::string percent = percent_words(share);
    percent.insert(0, 8 - std::min<std::size_t>(8, percent.size()), ' ');
    std::string text = "  " + std::string(name);
    text.resize(14, ' ');
    const auto bar = static_cast<std::size_t>(std::lround(share * k_columns));
    text.append(percent).append(bar == 0 ? "" : "  ").append(bar, '#').append("\n");
    return text;
}

std::string wrapped(std::string_view text) {
    constexpr std::size_t k_width = 90;
    std::string out;
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > k_width) {
            end = text.rfind(' ', k_width);
            end = end == std::string_view::npos ? std::min(text.find(' '), text.size()) : end;
        }
        out.append(text.substr(0, end)).append("\n");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace

efficiency efficiency_of(const recording& run, const calibration& one_core) {
    efficiency found;
    add_totals(found, run);
    separate_inflation(found, run, one_core);
    found.largest = largest_loss(found);
    found.headline = headline(found);
    found.remedy = found.tasks == 0 && !run.why_no_task.empty()
                       ? run.why_no_task
                       : detail::remedy_for(found, run, one_core);
    if (found.share(found.taken_ns) > k_much_taken) {
        found.warning = detail::warning_of_taken_time(found, run.taken);
    }
    found.note = note(found, run, one_core);
    return found;
}

std::string verdict_text(const efficiency& of) {
    std::string text = wrapped(of.headline);
    if (of.total_ns > 0.0) {
        text += line("work", of, of.work_ns) + line("overhead", of, of.overhead_ns) +
                line("starvation", of, of.starvation_ns);
        text += of.blocked_ns ? line("blocked", of, *of.blocked_ns) : "  blocked      unknown\n";
        text +=
            of.inflation_ns ? line("inflation", of, *of.inflation_ns) : "  inflation    unknown\n";
        text += of.lost_ns ? line("lost", of, *of.lost_ns) : "  lost         unknown\n";
    }
    return text + wrapped(of.remedy) + wrapped(of.warning) + wrapped(of.note);
}

}  // namespace quern::trace
