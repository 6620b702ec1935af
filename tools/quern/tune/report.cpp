// SPDX-License-Identifier: BSL-1.0
// Compares the best point with the start by the runs after the search, if there are any: those were
// not selected for being fast. Their sign test says how likely chance gives a result as good.
#include "tune/report.hpp"

#include "live/json_reader.hpp"

#include <quern/base/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace quern::tool {

namespace {

using adaptation::point;

constexpr std::size_t k_fewest_pairs = 5;  // with fewer even the best result is chance too often
constexpr double k_chance = 0.05;          // above: within noise

/// Costs of a point and what they say.
struct sample {
    std::vector<double> costs{};
    double median() const { return median_of(costs); }
    /// Largest less least, as a share of the median.
    double spread() const {
        const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
        return median() != 0 ? (*most - *least) / std::fabs(median()) : 0;
    }
};

struct comparison {
    sample best{};
    sample start{};
    std::size_t pairs = 0;   ///< of different costs
    std::size_t better = 0;  ///< of these, with the best point better

    /// Probability of as many or more by chance: one side of a binomial distribution.
    double chance() const {
        double sum = 0;
        double term = std::pow(0.5, static_cast<double>(pairs));  // of exactly `pairs`
        for (std::size_t k = pairs; k >= better; --k) {
            sum += term;
            if (k == 0) {
                break;
            }
            term *= static_cast<double>(k) / static_cast<double>(pairs - k + 1);
        }
        return std::min(sum, 1.0);
    }
    bool is_certain() const { return pairs >= k_fewest_pairs && chance() <= k_chance; }
};

comparison compare(const tune_result& result, const tried_point& best) {
    comparison made;
    const std::span<const tune_run> runs(result.runs);
    const auto is_good = [](const tune_run& each) { return std::isfinite(each.cost); };
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        const tune_run& one = runs[i];
        const tune_run& two = runs[i + 1];
        if (one.pair == 0 || one.pair != two.pair || !is_good(one) || !is_good(two)) {
            continue;
        }
        const bool is_start_first = one.where == result.start;
        const double start = (is_start_first ? one : two).cost;
        const double other = (is_start_first ? two : one).cost;
        made.start.costs.push_back(start);
        made.best.costs.push_back(other);
        made.pairs += start != other ? 1 : 0;
        made.better += other < start ? 1 : 0;
    }
    if (made.best.costs.empty()) {
        made.best.costs = best.costs;
        const tried_point* const start = result.find(result.start);
        if (start != nullptr && start->works) {
            made.start.costs = start->costs;
        }
    }
    return made;
}

std::string sample_text(const tune_plan& plan, const sample& of) {
    return fmt::format("{}, median of {}, spread {}", cost_text(plan, of.median()),
                       quern::detail::count_words(of.costs.size(), "run"),
                       quern::detail::percent_words(of.spread()));
}

std::string verdict(const tune_plan& plan, const comparison& is) {
    std::string text;
    if (is.best.median() > 0 && is.start.median() > 0) {
        const std::string ratio = quern::detail::short_number(is.start.median() / is.best.median());
        text = plan.cost ? fmt::format("the start costs {} times as much", ratio)
                         : fmt::format("the start takes {} times as long", ratio);
    }
    const std::string_view joint = text.empty() ? "" : "; ";
    const std::string pairs =
        fmt::format("the best is better in {} of {} pairs", is.better, is.pairs);
    if (is.pairs < k_fewest_pairs) {
        return fmt::format("{}{}too few different pairs for a sign test ({} of {})", text, joint,
                           is.pairs, k_fewest_pairs);
    }
    return fmt::format("{}{}{}{} (sign test: p = {})", text, joint,
                       is.is_certain() ? "" : "the difference is within noise: ", pairs,
                       quern::detail::rounded(is.chance(), 2));
}

std::string counts_text(const tune_plan& plan, const tune_result& result) {
    const auto searched = static_cast<std::size_t>(std::count_if(
        result.runs.begin(), result.runs.end(), [](auto& each) { return each.pair == 0; }));
    return fmt::format("{} of {} by {}; the search ended: {}\n",
                       quern::detail::count_words(searched, "run"),
                       quern::detail::count_words(result.tried.size(), "point"),
                       adaptation::name_of(plan.strategy), result.why);
}

/// A number where it is one, the word of a choice.
json_value json_of(const adaptation::parameter& of, const point& where) {
    const std::string text = of.text_of(where[of.name()]);
    const bool is_number = of.accepted().starts_with("a ");
    return is_number ? json_value(where[of.name()]) : json_value(text);
}

json_value json_of(const tune_plan& plan, const point& where) {
    json_value values = json_value::object();
    for (const adaptation::parameter& each : plan.parameters) {
        values[each.name()] = json_of(each, where);
    }
    return values;
}

json_value json_of(double number) {
    return std::isfinite(number) ? json_value(number) : json_value();
}

json_value json_of(const tune_plan& plan, const point& where, const sample& costs) {
    json_value made = {{"values", json_of(plan, where)}, {"runs", costs.costs.size()}};
    if (!costs.costs.empty()) {
        made["median"] = json_of(costs.median());
        made["spread"] = json_of(costs.spread());
    }
    return made;
}

std::string csv_word(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

}  // namespace

std::string tune_as_text(const tune_plan& plan, const tune_result& result) {
    const tried_point* const best = result.best(plan.repetitions);
    if (best == nullptr) {
        return "no point has a result\n" + counts_text(plan, result);
    }
    const comparison is = compare(result, *best);
    std::string text =
        fmt::format("best   {}: {}\n", best->where.text(), sample_text(plan, is.best));
    if (best->where == result.start) {
        text += "no point is better than the start\n";
    } else if (is.start.costs.empty()) {
        text += fmt::format("start  {}: no result\n", result.start.text());
    } else {
        text += fmt::format("start  {}: {}\n{}\n", result.start.text(), sample_text(plan, is.start),
                            verdict(plan, is));
    }
    return text + counts_text(plan, result) +
           fmt::format("use: {}\n", shell_text(filled(plan.program, plan.parameters, best->where)));
}

std::string tune_as_csv(const tune_plan& plan, const tune_result& result) {
    std::string text = "run,pair";
    for (const adaptation::parameter& each : plan.parameters) {
        text += "," + each.name();
    }
    text += ",seconds,cost,status\n";
    for (const tune_run& run : result.runs) {
        text += fmt::format("{},{}", run.number, run.pair == 0 ? "" : std::to_string(run.pair));
        for (const adaptation::parameter& each : plan.parameters) {
            text += "," + csv_word(each.text_of(run.where[each.name()]));
        }
        text += fmt::format(",{},{},{}\n", quern::detail::exact_number(run.seconds),
                            std::isfinite(run.cost) ? quern::detail::exact_number(run.cost) : "",
                            csv_word(run.status));
    }
    return text;
}

std::string tune_as_json(const tune_plan& plan, const tune_result& result) {
    json_value all = {{"program", shell_text(plan.program)},
                      {"strategy", adaptation::name_of(plan.strategy)},
                      {"repetitions", plan.repetitions},
                      {"seed", plan.seed},
                      {"cost", plan.cost ? "output" : "seconds"},
                      {"ended", result.why},
                      {"failure", result.failure},
                      {"runs", json_value::array()}};
    for (const tune_run& run : result.runs) {
        json_value made = {{"run", run.number},
                           {"values", json_of(plan, run.where)},
                           {"seconds", run.seconds},
                           {"cost", json_of(run.cost)},
                           {"status", run.status}};
        if (run.pair != 0) {
            made["pair"] = run.pair;
        }
        all["runs"].push_back(std::move(made));
    }
    if (const tried_point* const best = result.best(plan.repetitions)) {
        const comparison is = compare(result, *best);
        all["best"] = json_of(plan, best->where, is.best);
        all["start"] = json_of(plan, result.start, is.start);
        all["use"] = shell_text(filled(plan.program, plan.parameters, best->where));
        if (is.pairs != 0) {
            all["pairs"] = {{"different", is.pairs}, {"better", is.better}, {"p", is.chance()}};
        }
    }
    return all.dump(2, ' ', false, json_value::error_handler_t::replace) + "\n";
}

}  // namespace quern::tool
