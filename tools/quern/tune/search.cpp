// SPDX-License-Identifier: BSL-1.0
// Measures one point at a time. A point that has failed once is not run again; a run that takes
// much longer than the best median is stopped, and its time so far is told as its cost.
#include "tune/search.hpp"

#include <quern/base/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace quern::tool {

namespace {

using adaptation::point;

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t k_longest_line = 4096;  // std::regex needs stack for each character

/// The number of the group in the first line that matches; else what is wrong.
std::pair<double, std::string> cost_in(const std::string& output, const std::regex& pattern) {
    for (std::size_t begin = 0; begin < output.size();) {
        const std::size_t end = std::min(output.find('\n', begin), output.size());
        const std::string line = output.substr(begin, std::min(end - begin, k_longest_line));
        if (std::smatch found; std::regex_search(line, found, pattern)) {
            const std::string text = found[1].str();
            const std::optional<double> value = quern::detail::finite_number(text);
            return value ? std::pair(*value, std::string())
                         : std::pair(k_infinity, fmt::format("'{}' is no number", text));
        }
        begin = end + 1;
    }
    return {k_infinity, "no line matches --time"};
}

class searcher {
public:
    searcher(const tune_plan& plan, const after_run& after_each)
        : m_plan(plan), m_after_each(after_each) {}

    tune_result run() {
        find_best();
        if (!is_over()) {
            compare();
        }
        if (m_result.signal != 0) {
            m_result.why = fmt::format("interrupted by signal {}", m_result.signal);
        }
        return std::move(m_result);
    }

private:
    bool is_over() const { return m_result.signal != 0 || !m_result.failure.empty(); }

    void find_best() {
        adaptation::tuner_options options;
        options.seed = m_plan.seed;
        options.repetitions = m_plan.repetitions;
        options.most_trials = m_plan.most_trials;
        adaptation::tuner tuner(adaptation::space(m_plan.parameters), m_plan.strategy, options);
        m_result.start = tuner.where().start();
        while (!tuner.converged() && !is_over()) {
            const adaptation::trial next = tuner.ask();
            const tried_point* const known = m_result.find(next.where);
            if (known != nullptr && !known->works) {
                tuner.tell(next, k_infinity);
                continue;
            }
            const tune_run done = measure(next.where, limit());
            if (done.how != tune_run::kind::interrupted) {
                keep(done);
                tuner.tell(next, done.cost);
            }
        }
        m_result.why = tuner.why();
    }

    /// Of a run, in seconds: from the best median of points that are completely measured.
    double limit() const {
        const tried_point* const best = m_result.best(m_plan.repetitions);
        const bool is_complete = best != nullptr && best->costs.size() >= m_plan.repetitions;
        return is_complete && !m_plan.cost ? m_plan.cut * best->median() : k_infinity;
    }

    tune_run measure(const point& where, double cut_s) {
        tune_run done;
        done.number = m_result.runs.size() + 1;
        done.pair = m_pair;
        done.where = where;
        child_end end = run_child(filled(m_plan.program, m_plan.parameters, where),
                                  std::min(cut_s, m_plan.timeout_s), m_interrupted);
        done.seconds = end.seconds;
        classify(end, cut_s, done);
        m_result.signal = m_interrupted.signal();
        if (done.how == tune_run::kind::failed && where == m_result.start && m_pair == 0) {
            m_result.failure = done.status;
            m_result.output = std::move(end.output);
        }
        m_result.runs.push_back(done);
        return done;
    }

    void classify(const child_end& end, double cut_s, tune_run& done) {
        using kind = tune_run::kind;
        done.cost = k_infinity;
        if (end.is_stopped && m_interrupted.signal() != 0) {
            done.how = kind::interrupted;
            done.status = "interrupted";
        } else if (end.is_stopped && cut_s < m_plan.timeout_s) {
            done.how = kind::cut;
            done.status = "cut";
            done.cost = cut_s;
        } else if (end.is_stopped) {
            done.how = kind::timed_out;
            done.status = "timeout";
        } else if (!end.failure.empty()) {
            done.how = kind::failed;
            done.status = end.failure;
        } else if (m_plan.cost) {
            std::tie(done.cost, done.status) = cost_in(end.output, *m_plan.cost);
            done.how = done.status.empty() ? kind::worked : kind::failed;
        } else {
            done.cost = end.seconds;
        }
        done.status = done.status.empty() ? "ok" : done.status;
    }

    void keep(const tune_run& done) {
        tried_point* at = m_result.find(done.where);
        if (at == nullptr) {
            at = &m_result.tried.emplace_back(tried_point{.where = done.where});
        }
        at->costs.push_back(done.cost);
        at->cut += done.how == tune_run::kind::cut ? 1 : 0;
        at->works = at->works && std::isfinite(done.cost);
        show(done);
    }

    void show(const tune_run& done) const {
        std::string outcome = cost_text(m_plan, done.cost);
        if (done.how == tune_run::kind::cut) {
            outcome = "at least " + outcome + ", stopped";
        } else if (done.how == tune_run::kind::timed_out) {
            outcome = fmt::format("at least {}, stopped by --timeout",
                                  quern::detail::duration_words(m_plan.timeout_s * 1e9));
        } else if (done.how == tune_run::kind::failed) {
            outcome = fmt::format("does not work ({})", done.status);
        }
        const tried_point* const best = m_result.best(m_plan.repetitions);
        const std::string so_far = best == nullptr || m_pair != 0
                                       ? ""
                                       : fmt::format(", best {}: {}", best->where.text(),
                                                     cost_text(m_plan, best->median()));
        m_after_each(fmt::format("[{}] {}: {}{}", done.number, done.where.text(), outcome, so_far),
                     m_result);
    }

    /// The order changes from pair to pair, so that a machine that gets slower favours neither.
    void compare() {
        const tried_point* const best = m_result.best(m_plan.repetitions);
        const tried_point* const start = m_result.find(m_result.start);
        if (best == nullptr || start == nullptr || !start->works || best == start) {
            return;
        }
        for (m_pair = 1; m_pair <= m_plan.pairs && !is_over(); ++m_pair) {
            for (const bool is_first : {true, false}) {
                const bool is_start = is_first == (m_pair % 2 == 1);
                const tune_run done = measure((is_start ? start : best)->where, k_infinity);
                if (is_over()) {
                    return;
                }
                show(done);
            }
        }
    }

    const tune_plan& m_plan;
    const after_run& m_after_each;
    tune_result m_result{};
    interruption m_interrupted{};
    unsigned m_pair = 0;
};

}  // namespace

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? k_infinity : values[(values.size() - 1) / 2];
}

double tried_point::median() const { return median_of(costs); }

bool tried_point::is_known() const {
    return works && cut <= costs.size() / 2 && cut < costs.size();
}

tried_point* tune_result::find(const point& where) {
    const auto at = std::find_if(tried.begin(), tried.end(),
                                 [&](const tried_point& each) { return each.where == where; });
    return at == tried.end() ? nullptr : &*at;
}

const tried_point* tune_result::find(const point& where) const {
    return const_cast<tune_result*>(this)->find(where);
}

const tried_point* tune_result::best(unsigned repetitions) const {
    const tried_point* found = nullptr;
    const auto rank = [&](const tried_point& each) {
        return std::pair(each.costs.size() < repetitions, each.median());
    };
    for (const tried_point& each : tried) {
        if (each.is_known() && (found == nullptr || rank(each) < rank(*found))) {
            found = &each;
        }
    }
    return found;
}

std::string cost_text(const tune_plan& plan, double cost) {
    return plan.cost ? quern::detail::rounded(cost) : quern::detail::duration_words(cost * 1e9);
}

tune_result search(const tune_plan& plan, const after_run& after_each) {
    return searcher(plan, after_each).run();
}

}  // namespace quern::tool
