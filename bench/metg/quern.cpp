// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"
#include "../harness/quern_dataflow.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/replay.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace bench::metg {

namespace {

using result = quern::shared_future<output>;

result with_dataflow(graph& g, int step, int point, const std::vector<result>& before) {
    const inputs& in = g.inputs_for(step, point);
    return dataflow_of<inputs::k_most>(
        static_cast<std::size_t>(in.count),
        [&g, step, point](const auto&... values) {
            const std::array<const output*, sizeof...(values)> all{&values...};
            return g.execute(step, point, all);
        },
        [&](std::size_t i) -> const result& {
            return before[static_cast<std::size_t>(in.points[i])];
        });
}

/// The usual form: a vector of futures.
result with_vector(graph& g, int step, int point, const std::vector<result>& before) {
    const inputs& in = g.inputs_for(step, point);
    std::vector<result> needed;
    needed.reserve(static_cast<std::size_t>(in.count));
    for (int i = 0; i < in.count; ++i) {
        needed.push_back(before[static_cast<std::size_t>(in.points[i])]);
    }
    return quern::dataflow(
               [&g, step, point](const std::vector<result>& ready) {
                   std::array<const output*, inputs::k_most> all{};
                   for (std::size_t i = 0; i < ready.size(); ++i) {
                       all[i] = &ready[i].get();
                   }
                   return g.execute(step, point, {all.data(), ready.size()});
               },
               std::move(needed))
        .share();
}

quern::task<output> await_inputs(graph& g, int step, int point,
                                 std::array<result, inputs::k_most> needed) {
    std::array<const output*, inputs::k_most> all{};
    const auto count = static_cast<std::size_t>(g.inputs_for(step, point).count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = &co_await needed[i];
    }
    co_return g.execute(step, point, {all.data(), count});
}

result with_coroutine(graph& g, int step, int point, const std::vector<result>& before) {
    const inputs& in = g.inputs_for(step, point);
    std::array<result, inputs::k_most> needed;
    for (int i = 0; i < in.count; ++i) {
        needed[static_cast<std::size_t>(i)] = before[static_cast<std::size_t>(in.points[i])];
    }
    return quern::start(await_inputs(g, step, point, std::move(needed))).share();
}

/// Describes all steps, then waits for the tasks that no other task waits for.
template <class Start>
void run_graph(graph& g, Start start) {
    const auto width = static_cast<std::size_t>(g.width());
    std::vector<result> before(width);
    std::vector<result> now(width);
    std::vector<result> unwaited;
    for (int step = 0; step < g.steps(); ++step) {
        for (std::size_t point = 0; point < width; ++point) {
            now[point] = start(g, step, static_cast<int>(point), before);
        }
        if (!g.ends_with_last_step() && step > 0) {
            unwaited.insert(unwaited.end(), before.begin(), before.end());
        }
        std::swap(now, before);
    }
    for (const std::vector<result>* results : {&unwaited, &before}) {
        for (const result& r : *results) {
            r.wait();
        }
    }
}

template <class Start>
std::vector<contender> registered(const char* variant, Start start) {
    const auto inside = [](const arguments& a, auto f) { return quern_job(a, f); };
    return contenders(variant, inside,
                      [start](graph& g) { return [&g, start] { run_graph(g, start); }; });
}

/// Adds the task whose number of inputs is at most `Most`: the number of accesses is part of a
/// task's type.
template <std::size_t Most = inputs::k_most>
void spawn_one(quern::domain& work, graph& g, int step, int point, const output* before,
               output& to) {
    const inputs& in = g.inputs_for(step, point);
    if constexpr (Most > 0) {
        if (static_cast<std::size_t>(in.count) < Most) {
            spawn_one<Most - 1>(work, g, step, point, before, to);
            return;
        }
    }
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        work.spawn(quern::out(to), quern::in(before[in.points[I]])...,
                   [&g, step, point](output& made, const auto&... values) {
                       const std::array<const output*, Most> all{&values...};
                       made = g.execute(step, point, all);
                   });
    }
    (std::make_index_sequence<Most>());
}

/// Outputs are in a table of `rows` rows, which the steps use in turn; a task names the elements
/// that it reads and the one that it writes.
class outputs_table {
public:
    outputs_table(graph& g, int rows)
        : m_graph(g),
          m_rows(rows),
          m_outputs(static_cast<std::size_t>(rows) * static_cast<std::size_t>(g.width())) {}

    void spawn_step(quern::domain& work, int step) {
        output* const now = m_outputs.data() + step % m_rows * m_graph.width();
        const output* const before =
            m_outputs.data() + (step + m_rows - 1) % m_rows * m_graph.width();
        for (int point = 0; point < m_graph.width(); ++point) {
            spawn_one(work, m_graph, step, point, before, now[point]);
        }
    }

private:
    graph& m_graph;
    const int m_rows;
    std::vector<output> m_outputs;
};

void run_domain(graph& g, int rows) {
    outputs_table outputs(g, rows);
    quern::domain work;
    for (int step = 0; step < g.steps(); ++step) {
        outputs.spawn_step(work, step);
    }
    work.taskwait();
}

/// On two rows. The first step has no inputs; then as many steps as have different accesses are one
/// step of the replay.
void run_replay(graph& g) {
    constexpr int k_rows = 2;
    outputs_table outputs(g, k_rows);
    quern::domain work;
    outputs.spawn_step(work, 0);
    const int period = std::lcm(k_rows, g.period());
    quern::replay(work, (g.steps() - 1 + period - 1) / period, [&](std::int64_t round) {
        const int first = 1 + static_cast<int>(round) * period;
        for (int step = first; step < std::min(first + period, g.steps()); ++step) {
            outputs.spawn_step(work, step);
        }
    });
}

template <class Rows>
std::vector<contender> domains(const char* variant, Rows rows) {
    return contenders(
        variant, [](const arguments& a, auto f) { return quern_job(a, f); },
        [rows](graph& g) { return [&g, rows] { run_domain(g, rows(g)); }; });
}

/// A row for each step, as the peers have.
const auto domain = domains("domain", [](const graph& g) { return g.steps(); });
/// Two rows: a task also waits for the readers of what it overwrites.
const auto domain_two_rows = domains("domain_two_rows", [](const graph&) { return 2; });
const auto replay = contenders(
    "replay", [](const arguments& a, auto f) { return quern_job(a, f); },
    [](graph& g) { return [&g] { run_replay(g); }; });
const auto dataflow = registered("dataflow", with_dataflow);
const auto vector = registered("dataflow_vector", with_vector);
const auto coroutine = registered("coroutine", with_coroutine);

}  // namespace

}  // namespace bench::metg
