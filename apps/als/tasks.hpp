// SPDX-License-Identifier: BSL-1.0
// The primitives as tasks, as Phylanx launches them (Wagle et al., "Runtime Adaptive Task Inlining
// on Asynchronous Multitasking Runtime Systems", ICPP 2019, section 2.2), and the same calls
// without tasks. The launch policy decides for each primitive whether it becomes a task.
#pragma once

#include "problem.hpp"

#include <quern/quern.hpp>

#include <utility>
#include <vector>

namespace als {

/// Calls f with the values of the inputs as soon as all are ready. The one place where a primitive
/// is launched. Inlined, so that each primitive is a site of its own.
template <class F, class... Inputs>
QUERN_ALWAYS_INLINE auto launch(quern::launch how, const char* name, F&& f, Inputs&&... inputs) {
    return quern::dataflow(quern::task_attributes{.how = how, .name = name},
                           quern::unwrapping(std::forward<F>(f)), std::forward<Inputs>(inputs)...);
}

inline quern::future<void> launch_row(quern::launch how, const half_sweep& h, std::size_t row,
                                      const quern::shared_future<numbers>& gram) {
    const quern::shared_future<numbers> confidence =
        als::launch(how, "slice", [&h, row] { return slice(h, row); }).share();
    auto p = als::launch(how, "preference", &preference, confidence);
    auto a = als::launch(
        how, "weighted gram",
        [&h](const numbers& g, const numbers& c) { return weighted_gram(h, g, c); }, gram,
        confidence);
    auto b = als::launch(
        how, "weighted sum",
        [&h](const numbers& c, const numbers& ones) { return weighted_sum(h, c, ones); },
        confidence, std::move(p));
    auto x = als::launch(
        how, "solve",
        [](numbers left, numbers right) { return solve(std::move(left), std::move(right)); },
        std::move(a), std::move(b));
    return als::launch(
        how, "store", [&h, row](const numbers& solved) { store(h, row, solved); }, std::move(x));
}

inline constexpr std::size_t k_primitives_of_row = 6;

/// Launches the primitives of all rows, which do not depend on each other, and waits.
inline void run_tasks(quern::launch how, const half_sweep& h) {
    const quern::shared_future<numbers> of_all =
        als::launch(how, "gram", [&h] { return gram(h); }).share();
    std::vector<quern::future<void>> rows;
    rows.reserve(h.sought.rows);
    for (std::size_t row = 0; row < h.sought.rows; ++row) {
        rows.push_back(launch_row(how, h, row, of_all));
    }
    for (auto& each : quern::when_all(std::move(rows)).get()) {
        each.get();  // throws what a primitive threw
    }
}

inline void run_serially(const half_sweep& h) {
    const numbers of_all = gram(h);
    for (std::size_t row = 0; row < h.sought.rows; ++row) {
        const numbers confidence = slice(h, row);
        const numbers p = preference(confidence);
        store(h, row, solve(weighted_gram(h, of_all, confidence), weighted_sum(h, confidence, p)));
    }
}

}  // namespace als
