// SPDX-License-Identifier: BSL-1.0
#include "mpi.hpp"

#include <quern/mpi/environment.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace bench::ranks {

namespace {

constexpr const char* k_started = "BENCH_IS_STARTED";  // in the environment of the ranks
constexpr const char* k_ranks = "2";

MPI_Comm g_orders = MPI_COMM_NULL;  // for what the ranks do next
int g_rank = 0;
int g_size = 1;

/// From rank 0 to all. The plain functions: no runtime takes part.
bool pass_on(int order) {
    MPI_Request request;
    PMPI_Ibcast(&order, 1, MPI_INT, 0, g_orders, &request);
    for (int has_come = 0; has_come == 0;) {
        PMPI_Test(&request, &has_come, MPI_STATUS_IGNORE);
        if (has_come == 0 && g_rank != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    return order != 0;
}

/// The rate of the network between the ranks, for quern run; null: they share memory. The driver
/// sets BENCH_NET from problems.toml; "size" there means: the problem's size, in Mbit/s.
const char* rate_of_network(int argc, char** argv) {
    static std::string rate;
    const char* const wanted = std::getenv("BENCH_NET");
    rate = wanted == nullptr ? "" : wanted;
    if (rate == "size") {
        rate.clear();
        for (int i = 1; i + 1 < argc; ++i) {
            if (std::string(argv[i]) == "--size") {
                rate = std::string(argv[i + 1]) + "mbit";
            }
        }
    }
    return rate.empty() ? nullptr : rate.c_str();
}

void start(const char* starter, int argc, char** argv) {
    ::setenv(k_started, "1", 1);
    // For Open MPI: allowed as root, and no copies that a container forbids.
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    if (const contender* const wanted = contender::named(argc, argv); wanted != nullptr) {
        for (const auto& [name, value] : wanted->environment) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
    }
    std::vector<std::string> words;
    if (const char* const rate = rate_of_network(argc, argv); rate != nullptr) {
        words = {BENCH_QUERN_TOOL, "run", "-n", k_ranks, "--net", rate, "--"};
    } else {
        std::istringstream text(starter);
        for (std::string word; text >> word;) {
            words.push_back(word);
        }
        words.insert(words.end(), {"-n", k_ranks});
    }
    words.insert(words.end(), argv, argv + argc);
    std::vector<char*> command;
    for (std::string& word : words) {
        command.push_back(word.data());
    }
    command.push_back(nullptr);
    ::execvp(command[0], command.data());
    std::perror(command[0]);
    std::exit(1);
}

}  // namespace

int rank() noexcept { return g_rank; }
int size() noexcept { return g_size; }

void take_along() {
    if (g_rank == 0) {
        pass_on(1);
    }
}

int serve(const char* runtime, const char* starter, int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--list") {
        return bench::serve(runtime, argc, argv);
    }
    leave_helper_threads_of_blas(runtime, argv);
    if (std::getenv(k_started) == nullptr) {
        check_request(runtime, argc, argv);  // once, and not by each rank
        start(starter, argc, argv);
    }
    const quern::mpi::environment world(argc, argv);
    g_rank = world.rank();
    g_size = world.size();
    PMPI_Comm_dup(MPI_COMM_WORLD, &g_orders);
    int result = 0;
    if (g_rank == 0) {
        result = bench::serve(runtime, argc, argv);
        pass_on(0);
    } else {
        result = follow(runtime, argc, argv, [] { return pass_on(1); });
    }
    if (result != 0) {
        PMPI_Abort(MPI_COMM_WORLD, result);
    }
    return result;
}

}  // namespace bench::ranks
