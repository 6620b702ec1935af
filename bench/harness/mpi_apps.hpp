// SPDX-License-Identifier: BSL-1.0
// Contenders that run the variants of an application of apps/mpi. Each repetition of a variant also
// runs the pure program and its messages alone, so that what is compared has run one after the
// other: the speed of a machine changes within a minute.
//
//     struct app {                           // one of a process, made on all ranks
//         explicit app(const arguments&);
//         void reset();
//         void check();                      // throws wrong_answer, on all ranks alike
//         void messages();                   // of a run, alone
//         void pure();
//         void tasks();
//     };
//     const contender tasks = ranks::variant_of<app>("ring", "tasks", &app::tasks, ranks::as_task);
#pragma once

#include "mpi.hpp"
#include "quern.hpp"

#include "../../apps/mpi/common/ranks.hpp"

#include <quern/quern.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

namespace bench::ranks {

inline apps::mpi::place here() { return {rank(), size()}; }

/// Where a variant runs: calls the function and returns its result.
using stage = double (*)(const arguments&, const std::function<double()>&);

/// As a program without a runtime.
inline double alone(const arguments&, const std::function<double()>& f) { return f(); }

/// By the main thread, beside a runtime.
inline double beside_runtime(const arguments& a, const std::function<double()>& f) {
    const std::shared_ptr<quern::runtime> rt = quern_runtime(a);
    return f();
}

/// As a task of a runtime.
inline double as_task(const arguments& a, const std::function<double()>& f) {
    const std::shared_ptr<quern::runtime> rt = quern_runtime(a);
    return quern::async(*rt, [&f] { return f(); }).get();
}

/// Throws wrong_answer on all ranks unless `found` is below `limit` on each.
inline void expect_below(const char* what, double found, double limit) {
    int is_right = static_cast<int>(found < limit);
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (is_right == 0) {
        throw wrong_answer(std::string(what) + " is " + std::to_string(found));
    }
}

/// Of the slowest rank.
template <class App, class Base>
double seconds_of(App& app, void (Base::*steps)(), const arguments& a, stage where) {
    app.reset();
    const double seconds =
        where(a, [&] { return apps::mpi::seconds_of_all([&] { (app.*steps)(); }); });
    app.check();
    return seconds;
}

/// Figures: seconds of the messages alone, and of the rest of the pure program.
template <class App>
measurement measured_pure(App& app, const arguments& a) {
    const double messages = apps::mpi::seconds_of_all([&] { app.messages(); });
    const double pure = seconds_of(app, &App::pure, a, alone);
    return {pure, 1, {{"communicate", messages}, {"compute", pure - messages}}};
}

template <class App>
contender pure_of(const char* problem, const char* name) {
    return {
        problem, name, [](const arguments& a) {
            return together([app = std::make_shared<App>(a), a] { return measured_pure(*app, a); });
        }};
}

/// Figures: the ratio to the pure program, and how much of the shorter of communicating and
/// computing was hidden behind the other one.
template <class App, class Base>
std::function<job(const arguments&)> compared(void (Base::*steps)(), stage where) {
    return [steps, where](const arguments& a) {
        return together([app = std::make_shared<App>(a), a, steps, where] {
            measurement m = measured_pure(*app, a);
            const double pure = m.value;
            m.value = seconds_of(*app, steps, a, where);
            m.more["to_pure"] = m.value / pure;
            m.more["overlap"] =
                (pure - m.value) / std::min(m.more["communicate"], m.more["compute"]);
            return m;
        });
    };
}

template <class App, class Base>
contender variant_of(const char* problem, const char* name, void (Base::*steps)(), stage where) {
    return {problem, name, compared<App>(steps, where)};
}

/// The variant by tasks, by each mechanism.
template <class App, class Base>
by_each_mechanism tasks_of(const char* problem, void (Base::*steps)()) {
    return {problem, "tasks", compared<App>(steps, as_task)};
}

}  // namespace bench::ranks
