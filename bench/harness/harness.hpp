// SPDX-License-Identifier: BSL-1.0
// Shared by all benchmark programs: a list of the ways to solve each problem, and one way to time
// them. A program holds all problems of one runtime (bench-quern, bench-tbb …); bench/run starts
// one process for each contender and lets them work in turns. Must not include anything of a
// runtime: this same code measures all of them.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// The request to a contender. problems.toml defines a problem's size.
struct arguments {
    int workers = 1;
    long size = 0;
};

/// The result of one repetition.
struct measurement {
    double value = 0;                    ///< seconds for a run, or as problems.toml defines it
    int runs = 1;                        ///< runs within the repetition; the value is their median
    std::map<std::string, double> more;  ///< other figures by name, for the report
};

/// The run does not count: its result is wrong.
struct wrong_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws wrong_answer unless the arguments are equal.
template <class T>
void expect_equal(const char* what, const T& found, const T& expected) {
    if (!(found == expected)) {
        throw wrong_answer(std::string(what) + " is " + std::to_string(found) + " and not " +
                           std::to_string(expected));
    }
}

/// One repetition; called repeatedly on the main thread. Objects that it holds, e.g. a runtime,
/// live until the process ends.
using job = std::function<measurement()>;

/// A way to solve a problem. Its static objects register themselves:
///
///     const bench::contender plain{"fib", "plain", [](const bench::arguments& a) -> bench::job {
///         return [n = a.size] { return bench::timed([n] { return fib(n); }, check); };
///     }};
class contender {
public:
    contender(std::string problem, std::string variant, std::function<job(const arguments&)> make,
              std::map<std::string, std::string> environment = {});

    static const std::vector<contender>& all();
    /// The one that the command line names first; null: there is none.
    static const contender* named(int argc, char** argv);

    std::string problem;
    std::string variant;
    std::function<job(const arguments&)> make;
    std::map<std::string, std::string> environment;  ///< of its ranks (mpi.hpp), before they start
};

/// Seconds on the monotonic clock.
double now() noexcept;

/// Runs f until 20 ms have passed, at least once and at most 1000 times, and passes each result to
/// check(), which throws wrong_answer and is not timed. Call it where the runtime expects its work:
/// in a task, in a parallel region.
measurement timed_runs(const std::function<double()>& one_run);

template <class F, class Check>
measurement timed(F&& f, Check&& check) {
    return timed_runs([&] {
        const double start = now();
        const auto answer = f();
        const double seconds = now() - start;
        check(answer);
        return seconds;
    });
}

double median(std::vector<double> values);

/// OpenBLAS, when it is loaded, starts a thread for each processor, which spins for the first 60 to
/// 100 ms of the process (16 cores), and only a variable that is there at its start prevents it.
/// Starts this program again with that variable, unless it is set or the runtime is OpenBLAS. Call
/// it first.
void leave_helper_threads_of_blas(const char* runtime, char** argv);

/// Exits with a message if the command line is not one of serve(), other than --list.
void check_request(const char* runtime, int argc, char** argv);

/// main() of every benchmark program.
int serve(const char* runtime, int argc, char** argv);

/// main() of the other processes of a program of several: repeats the same job, as long as next()
/// says so, and prints nothing.
int follow(const char* runtime, int argc, char** argv, const std::function<bool()>& next);

}  // namespace bench
