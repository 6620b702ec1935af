// SPDX-License-Identifier: BSL-1.0
// ccube: C-CUBE of the thesis on OmpSs, chapter 4. Each rank computes in 128 steps while a message
// goes from rank 0 to all; how much do ways to overlap the two disturb the computing, and when does
// the message arrive? Prints tables 4.1 and 4.2.
#include "broadcasts.hpp"

#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ccube {

namespace {

using apps::mpi::place;

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 4 ccube                     three kernels, messages of 1 and 128 KiB
  MPICH_ASYNC_PROGRESS=1 mpiexec -n 4 ccube
                                        with MPICH's thread for progress; Open MPI has none
  mpirun -n 4 ccube --kernel dgemm --n 8192 --repeat 9
                                        one kernel)";

struct options {
    sizes of;
    std::string kernel = "all";
    int repeat = 5;

    /// False: only help was requested.
    bool parse(int argc, char** argv) {
        cli::command_line app("Computing while a message is broadcast.", "ccube");
        apps::add_count(app, "--number", of.number, 2, 1'000'000'000'000'000'000,
                        "whose divisors a step of primes looks for");
        apps::add_count(app, "--copy", of.copied, 1, 1'000'000'000,
                        "bytes that a step of memcpy copies");
        apps::add_count(app, "--n", of.n, 1, 40'000, "rows and columns of dgemm's product");
        app.add("--kernel", kernel, "one, or all (primes, memcpy, dgemm, all)").shows_default();
        apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each version");
        apps::mpi::disturbances::of_process().add_to(app);
        apps::add_runtime_options(app);
        app.footer(k_examples);
        if (!apps::parse(app, argc, argv)) {
            return false;
        }
        apps::checked_word("--kernel", kernel, {"primes", "memcpy", "dgemm", "all"});
        return true;
    }
};

/// A way to overlap, and whether it runs in a task.
struct version {
    std::string_view name;
    times (*run)(kernel&, message&);
    bool is_task = false;
    bool has_polls = false;
};

constexpr std::array k_versions{
    version{"computing alone", computing_alone},
    version{"message alone", communicating_alone},
    version{"probes", by_probes, false, true},
    version{"thread", by_thread},
    version{"Ibcast", by_ibcast, false, true},
    version{"Quern, Bcast", by_broadcast_task, true, true},
    version{"Quern, messages", by_message_tasks, true, true},
};
constexpr std::array<std::size_t, 2> k_bytes{1024, 131'072};

/// Of the slowest rank; polls: the most.
times of_all(times mine) {
    std::array<double, 3> all{mine.communicating, mine.computing, mine.polls};
    MPI_Allreduce(MPI_IN_PLACE, all.data(), 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return {all[0], all[1], all[2]};
}

/// Medians of each field.
times median_of(const std::vector<times>& all) {
    const auto of = [&all](double times::*field) {
        std::vector<double> values;
        values.reserve(all.size());
        for (const times& each : all) {
            values.push_back(each.*field);
        }
        return apps::median(values);
    };
    return {of(&times::communicating), of(&times::computing), of(&times::polls)};
}

/// The medians of all versions for one kernel and one size.
class measured {
public:
    measured(kernel& k, std::size_t bytes, int repeat, const place& at) : m_message(bytes, at) {
        std::array<std::vector<times>, k_versions.size()> all;
        for (int round = 0; round <= repeat; ++round) {
            for (std::size_t v = 0; v < k_versions.size(); ++v) {
                const apps::mpi::noise beside =
                    apps::mpi::disturbances::of_process().beside_run(at.rank, round);
                const times found = run(k, k_versions[v]);
                if (round > 0) {
                    all[v].push_back(found);
                }
            }
        }
        for (std::size_t v = 0; v < k_versions.size(); ++v) {
            m_medians[v] = median_of(all[v]);
        }
    }

    const times& operator[](std::size_t version) const { return m_medians[version]; }
    /// The speed of computing beside the message, compared with that without.
    double efficiency(std::size_t version) const {
        return m_medians[0].computing / m_medians[version].computing;
    }

private:
    /// Until the system has spread new threads of a runtime over the processors. The same for all.
    static void settle(kernel& k) {
        for (std::size_t i = 0; i < k_steps / 4; ++i) {
            k.step(i);
        }
        k.reset();
    }

    times run(kernel& k, const version& v) {
        k.reset();
        m_message.reset();
        const auto once = [&] {
            settle(k);
            MPI_Barrier(MPI_COMM_WORLD);
            return v.run(k, m_message);
        };
        const times mine = v.is_task ? apps::mpi::in_task(once) : once();
        const bool computes = v.run != communicating_alone;
        const bool communicates = v.run != computing_alone;
        const std::string mistake = computes ? k.mistake() : "";
        apps::mpi::require_on_all(mistake.empty(), fmt::format("{}: {}", k.name(), mistake));
        apps::mpi::require_on_all(!communicates || m_message.is_right(),
                                  fmt::format("the message of '{}'", v.name));
        return of_all(mine);
    }

    message m_message;
    std::array<times, k_versions.size()> m_medians;
};

using results = std::vector<std::pair<std::string, std::array<std::unique_ptr<measured>, 2>>>;

void print_times(const results& all) {
    fmt::print(
        "Table 4.1: seconds until the slowest rank had passed the message on, and until it "
        "had computed;\nefficiency: computing alone / computing beside the message\n");
    fmt::print("  {:<8} {:<16} {:>33}   {:>33}\n", "", "", "1 KiB", "128 KiB");
    fmt::print("  {:<8} {:<16}", "kernel", "version");
    for (int i = 0; i < 2; ++i) {
        fmt::print(" {:>10} {:>10} {:>11}  ", "message", "computing", "efficiency");
    }
    fmt::print("\n");
    for (const auto& [name, sizes] : all) {
        for (std::size_t v = 0; v < k_versions.size(); ++v) {
            fmt::print("  {:<8} {:<16}", v == 0 ? name : "", k_versions[v].name);
            for (const auto& each : sizes) {
                const times& t = (*each)[v];
                const bool computes = k_versions[v].run != communicating_alone;
                const bool communicates = k_versions[v].run != computing_alone;
                fmt::print(
                    " {:>10} {:>10} {:>11}  ",
                    communicates ? fmt::format("{:.5f}", t.communicating) : "",
                    computes ? fmt::format("{:.5f}", t.computing) : "",
                    computes && communicates ? fmt::format("{:.3f}", each->efficiency(v)) : "");
            }
            fmt::print("\n");
        }
    }
}

void print_polls(const results& all) {
    fmt::print(
        "Table 4.2: looks until the message had come, on the rank with the most; of Quern: "
        "the runtime's, at ends of tasks\n");
    fmt::print("  {:<8} {:<16} {:>10} {:>10}\n", "kernel", "version", "1 KiB", "128 KiB");
    for (const auto& [name, sizes] : all) {
        std::string_view shown = name;
        for (std::size_t v = 0; v < k_versions.size(); ++v) {
            if (k_versions[v].has_polls) {
                fmt::print("  {:<8} {:<16} {:>10.0f} {:>10.0f}\n", shown, k_versions[v].name,
                           (*sizes[0])[v].polls, (*sizes[1])[v].polls);
                shown = "";
            }
        }
    }
}

const char* progress_thread() {
    if (apps::mpi::library_name().starts_with("Open MPI")) {
        return "none, as Open MPI has none";
    }
    const char* const wanted = std::getenv("MPICH_ASYNC_PROGRESS");
    const std::string_view text = wanted == nullptr ? "" : wanted;
    return text.empty() || text == "0" ? "off (MPICH_ASYNC_PROGRESS=1 switches it on)" : "on";
}

int run(const place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(argc, argv)) {
        return apps::k_success;
    }
    const double n = static_cast<double>(chosen.of.n);
    apps::mpi::require_memory(
        at.ranks * (n * n * sizeof(double) + 2.0 * static_cast<double>(chosen.of.copied)));
    results all;
    for (const auto& make : {make_primes, make_copies, make_product}) {
        const std::unique_ptr<kernel> k = make(chosen.of);
        if (chosen.kernel != "all" && chosen.kernel != k->name()) {
            continue;
        }
        all.emplace_back(k->name(), std::array<std::unique_ptr<measured>, 2>{});
        for (std::size_t i = 0; i < k_bytes.size(); ++i) {
            all.back().second[i] = std::make_unique<measured>(*k, k_bytes[i], chosen.repeat, at);
        }
    }
    const unsigned workers =
        apps::mpi::with_runtime([](const quern::runtime& rt) { return rt.workers(); });
    fmt::print(
        "ccube: {} steps, {} rank{} by {}, {} worker{} a rank, median of {}: every result "
        "right in every run\nprogress thread: {}\n{}",
        k_steps, at.ranks, at.ranks == 1 ? "" : "s", apps::mpi::library_name(), workers,
        workers == 1 ? "" : "s", chosen.repeat, progress_thread(),
        apps::mpi::disturbances::of_process().text());
    print_times(all);
    print_polls(all);
    return apps::k_success;
}

}  // namespace

}  // namespace ccube

int main(int argc, char** argv) { return apps::mpi::guarded_main("ccube", argc, argv, ccube::run); }
