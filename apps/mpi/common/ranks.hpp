// SPDX-License-Identifier: BSL-1.0
// Shared by the MPI applications: a main whose mistakes are told once and not by each rank, times
// of all ranks together, and the output. Must not contain anything of one application.
#pragma once

#include "../../common/cli.hpp"
#include "../../common/measure.hpp"
#include "../../common/table.hpp"
#include "disturbances.hpp"
#include "messages.hpp"

#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace apps::mpi {

/// Thrown by all ranks alike: rank 0 tells it, and all end with status 1.
struct common_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Where a rank is among all.
struct place {
    int rank = 0;
    int ranks = 1;

    bool is_first() const { return rank == 0; }
    /// Of the neighbours in a chain; MPI_PROC_NULL beyond its ends.
    int before() const { return rank > 0 ? rank - 1 : MPI_PROC_NULL; }
    int after() const { return rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL; }
};

/// The part of `n` items that a rank has: [first, first + count), as even as possible.
struct share {
    std::size_t first;
    std::size_t count;
};
inline share share_of(std::size_t n, const place& at) {
    const auto all = static_cast<std::size_t>(at.ranks);
    const auto mine = static_cast<std::size_t>(at.rank);
    const std::size_t first = n * mine / all;
    return {first, n * (mine + 1) / all - first};
}

/// Throws common_failure on all ranks if `is_right` is false on one.
inline void require_on_all(bool is_right, const std::string& what) {
    int all = static_cast<int>(is_right);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all == 0) {
        throw common_failure("wrong answer: " + what);
    }
}

/// Throws common_failure if the machine, on which all ranks may run, has less memory.
inline void require_memory(double bytes_of_all) {
    const double all =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (bytes_of_all > all) {
        throw common_failure(fmt::format(
            "a problem of this size needs {:.1f} GB of memory; this machine has {:.1f} GB",
            bytes_of_all / 1e9, all / 1e9));
    }
}

/// A rank needs a part of its own.
inline void require_at_least_ranks(std::string_view option, std::size_t value, const place& at) {
    if (value < static_cast<std::size_t>(at.ranks)) {
        throw usage_error(fmt::format("{} is '{}'; accepted on {} ranks: a whole number from {}",
                                      option, value, at.ranks, at.ranks));
    }
}

/// The options of all: which variants run, how often.
struct variant_options {
    std::vector<std::string_view> names;
    std::string which = "all";
    int repeat = 5;
    bool by_each_mechanism = false;

    explicit variant_options(std::vector<std::string_view> all) : names(std::move(all)) {}

    void add_to(cli::command& app) {
        app.add("--variant", which,
                fmt::format("one, or all in turns ({}, all)", fmt::join(names, ", ")))
            .shows_default();
        add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
        app.add(
               "--mechanism",
               [this](const std::string& text) {
                   by_each_mechanism = text == "all";
                   if (!by_each_mechanism) {
                       quern::set_setting("mpi-mechanism", text, "option --mechanism");
                   }
               },
               "how tasks wait for messages (library, thread, restart), or all in turns")
            .type("NAME")
            .shows_default("library");
        disturbances::of_process().add_to(app);
    }

    /// Adds the runtime's options, and parses. False: only help was requested. Throws usage_error.
    bool parse(cli::command_line& app, const char* examples, int argc, char** argv) const {
        add_runtime_options(app);
        app.footer(examples);
        if (!apps::parse(app, argc, argv)) {
            return false;
        }
        std::vector<std::string_view> accepted = names;
        accepted.push_back("all");
        checked_word("--variant", which, accepted);
        return true;
    }

    bool runs(std::string_view name) const { return which == "all" || which == name; }

    std::vector<variant> chosen(std::vector<variant> all) const {
        std::erase_if(all, [this](const variant& v) { return !runs(v.name); });
        return by_each_mechanism ? with_each_mechanism(all) : all;
    }

private:
    /// Those by tasks are there once for each.
    static std::vector<variant> with_each_mechanism(const std::vector<variant>& all) {
        std::vector<variant> result;
        for (const variant& one : all) {
            if (!one.name.starts_with("tasks")) {
                result.push_back(one);
                continue;
            }
            for (const char* const by : {"library", "thread", "restart"}) {
                result.push_back({fmt::format("{}, {}", one.name, by), [by, run = one.run] {
                                      quern::set_setting("mpi-mechanism", by, "option --mechanism");
                                      return run();
                                  }});
            }
        }
        return result;
    }
};

/// Seconds that f() takes, from a barrier on, on the slowest rank.
template <class F>
double seconds_of_all(F&& f) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    f();
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/// f(runtime), while that lives. At other times no layer but one branch is between the program and
/// MPI: so runs what is called pure.
template <class F>
auto with_runtime(F&& f) {
    follow_settings();
    const quern::runtime rt;
    return f(rt);
}

/// f() as a task of a runtime that lives as long as it.
template <class F>
auto in_task(F&& f) {
    return with_runtime([&f](const quern::runtime& rt) { return quern::async(rt, f).get(); });
}

/// As apps::run_in_turns; processor time is that of all ranks.
inline void run_in_turns(std::vector<variant>& variants, int repeat) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round <= repeat; ++round) {
        for (variant& each : variants) {
            const noise beside = disturbances::of_process().beside_run(rank, round);
            const double before = processor_seconds();
            const double seconds = each.run();
            double processor = processor_seconds() - before;
            MPI_Allreduce(MPI_IN_PLACE, &processor, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (round > 0) {
                each.seconds.push_back(seconds);
                each.processor.push_back(processor);
            }
        }
    }
}

/// "Open MPI v4.1.4", "MPICH 4.0.2"
inline std::string library_name() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string all(text, static_cast<std::size_t>(length));
    all.resize(std::min(all.size(), all.find_first_of(",\n")));
    constexpr std::string_view k_needless = "Version:\t";
    if (const std::size_t at = all.find(k_needless); at != std::string::npos) {
        all.erase(at, k_needless.size());
    }
    return all;
}

/// How the times were taken, and the times; then rates: `amount` of a run in `unit` times s.
inline void print_all(const std::vector<variant>& variants, int repeat, const place& at,
                      double amount, const char* unit) {
    const unsigned workers = with_runtime([](const quern::runtime& rt) { return rt.workers(); });
    fmt::print("{} rank{} by {}, {} worker{} a rank, median of {}\n", at.ranks,
               at.ranks == 1 ? "" : "s", library_name(), workers, workers == 1 ? "" : "s", repeat);
    fmt::print("{}", disturbances::of_process().text());
    print_ratios(variants, "x first");
    print_rates(variants, amount, unit);
}

/// What only rank 0 prints is seen; failures that all ranks have are told by it, others by the
/// rank that has them, which ends the job.
template <class Run>
int guarded_main(const char* name, int argc, char** argv, const Run& run) {
    return apps::guarded_main(name, [&] {
        const quern::mpi::environment world(argc, argv);
        const place at{world.rank(), world.size()};
        if (!at.is_first() && std::freopen("/dev/null", "w", stdout) == nullptr) {
            throw std::runtime_error("/dev/null cannot be opened");
        }
        int status = k_success;
        const auto tell = [&](int otherwise) {
            status = at.is_first() ? say_failure(name) : otherwise;
        };
        try {
            status = cli::status_with_output(name, run(at, argc, argv), k_wrong_answer);
        } catch (const usage_error&) {
            tell(k_usage);
        } catch (const std::invalid_argument&) {
            tell(k_usage);
        } catch (const common_failure&) {
            tell(k_wrong_answer);
        } catch (const std::exception&) {
            fmt::print(stderr, "rank {} of {}:\n", at.rank, at.ranks);
            MPI_Abort(MPI_COMM_WORLD, say_failure(name));
        }
        std::fflush(nullptr);
        MPI_Barrier(MPI_COMM_WORLD);  // mpirun ends the others when one has ended with a failure
        return status;
    });
}

}  // namespace apps::mpi
