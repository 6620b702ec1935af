// SPDX-License-Identifier: BSL-1.0
// The graphs of the METG problems, after Task Bench (Slaughter et al., SC20): steps of `width`
// tasks, each with inputs from the previous step, as the pattern says. A task checks that its
// inputs come from the right tasks and then computes; so a task that starts too early or twice is
// detected. The runtimes differ only in how they pass outputs and start tasks.
#pragma once

#include "../harness/harness.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench::metg {

enum class pattern { trivial, no_comm, stencil_1d, nearest, spread, fft, all_to_all };

/// The points of the previous step that a task needs, without duplicates.
struct inputs {
    static constexpr int k_most = 8;
    int count = 0;
    int points[k_most] = {};

    /// Ignores points outside the graph, and duplicates.
    void add(int point, int width) {
        if (point < 0 || point >= width ||
            std::find(points, points + count, point) != points + count) {
            return;
        }
        if (count == k_most) {
            throw std::invalid_argument("a task has more than " + std::to_string(k_most) +
                                        " inputs: the width is too large for this pattern");
        }
        points[count++] = point;
    }
};

/// The output of a task: its identity and its result.
struct output {
    int step = -1;
    int point = -1;
    double value = 0;
};

inline constexpr int k_radix = 5;   // of nearest and spread
inline constexpr int k_period = 3;  // steps after which spread repeats itself

/// After how many kinds of step a pattern repeats.
inline int kinds_of_step(pattern p, int width) {
    int logarithm = 0;
    while ((1 << logarithm) < width) {
        ++logarithm;
    }
    return p == pattern::fft ? std::max(1, logarithm) : p == pattern::spread ? k_period : 1;
}

/// As Task Bench defines them; `kind` is the number of the step, modulo kinds_of_step.
inline inputs inputs_of(pattern p, int width, int kind, int point) {
    inputs in;
    const auto add_range = [&](int first, int last) {
        for (int i = first; i <= last; ++i) {
            in.add(i, width);
        }
    };
    switch (p) {
        case pattern::trivial:
            break;
        case pattern::no_comm:
            in.add(point, width);
            break;
        case pattern::stencil_1d:
            add_range(point - 1, point + 1);
            break;
        case pattern::nearest:
            add_range(point - (k_radix - 1) / 2, point + k_radix / 2);
            break;
        case pattern::spread:
            for (int i = 0; i < k_radix; ++i) {
                in.add((point + i * width / k_radix + (i > 0 ? kind : 0)) % width, width);
            }
            break;
        case pattern::fft:
            in.add(point, width);
            in.add(point - (1 << kind), width);
            in.add(point + (1 << kind), width);
            break;
        case pattern::all_to_all:
            add_range(0, width - 1);
            break;
    }
    return in;
}

/// A chain of multiplications with addition: compilers have no freedom in it.
inline double compute(long iterations, double x) noexcept {
    for (long i = 0; i < iterations; ++i) {
        x = x * 0.75 + 0.125;
    }
    return x;
}

class graph {
public:
    graph(pattern p, int width, int steps, long iterations)
        : m_pattern(p),
          m_width(width),
          m_steps(steps),
          m_iterations(iterations),
          m_times_run(static_cast<std::size_t>(steps) * static_cast<std::size_t>(width)) {
        for (int kind = 0; kind < kinds_of_step(p, width); ++kind) {
            for (int point = 0; point < width; ++point) {
                m_inputs.push_back(inputs_of(p, width, kind, point));
            }
        }
    }

    int width() const noexcept { return m_width; }
    int steps() const noexcept { return m_steps; }
    /// After so many steps the inputs are the same again, from the second step on.
    int period() const noexcept { return static_cast<int>(m_inputs.size()) / m_width; }
    int tasks() const noexcept { return m_steps * m_width; }
    long iterations() const noexcept { return m_iterations; }
    /// Whether the last step is ready only after all others.
    bool ends_with_last_step() const noexcept { return m_pattern != pattern::trivial; }

    const inputs& inputs_for(int step, int point) const noexcept {
        const int kinds = static_cast<int>(m_inputs.size()) / m_width;
        return step == 0 ? m_none
                         : m_inputs[static_cast<std::size_t>(step % kinds * m_width + point)];
    }

    /// The body of every task. Does not throw, because not every runtime could pass an exception
    /// on.
    output execute(int step, int point, std::span<const output* const> in) noexcept {
        const inputs& wanted = inputs_for(step, point);
        bool right = in.size() == static_cast<std::size_t>(wanted.count);
        for (std::size_t i = 0; right && i < in.size(); ++i) {
            right = in[i]->step == step - 1 && in[i]->point == wanted.points[i];
        }
        if (!right) {
            m_wrong.store(true,
                          std::memory_order_relaxed);  // read after a wait for all tasks
        }
        ++m_times_run[static_cast<std::size_t>(point * m_steps + step)];
        return {step, point, compute(m_iterations, step + point)};
    }

    /// After a run: whether every task has run once, with its inputs. Then resets for the next run.
    void check() {
        if (m_wrong.load(std::memory_order_relaxed)) {
            throw wrong_answer("a task did not get the outputs that it needs");
        }
        for (unsigned char& times : m_times_run) {
            if (times != 1) {
                throw wrong_answer("a task was run " + std::to_string(times) + " times");
            }
            times = 0;
        }
    }

private:
    pattern m_pattern;
    int m_width;
    int m_steps;
    long m_iterations;
    std::vector<inputs> m_inputs;  ///< by kind of step and point
    inputs m_none;
    std::atomic<bool> m_wrong{false};
    std::vector<unsigned char>
        m_times_run;  ///< by point and step: neighbours in it run one after the other
};

}  // namespace bench::metg
