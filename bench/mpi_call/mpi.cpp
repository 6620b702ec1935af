// SPDX-License-Identifier: BSL-1.0
// What the layer mpi adds to a call outside tasks. The value is the time of a call, in ns, of three
// that pass a number from a rank to itself. Size: such messages.
#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"

namespace bench::mpi_call {

namespace {

/// ns for a call. `Send`, `Receive` and `Wait` are MPI's functions or its PMPI functions.
template <auto Send, auto Receive, auto Wait>
double play(long messages) {
    long sum = 0;
    const double begun = now();
    for (long i = 0; i < messages; ++i) {
        long received = 0;
        MPI_Request sending = MPI_REQUEST_NULL;
        Send(&i, 1, MPI_LONG, 0, 0, MPI_COMM_SELF, &sending);
        Receive(&received, 1, MPI_LONG, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        Wait(&sending, MPI_STATUS_IGNORE);
        sum += received;
    }
    const double seconds = now() - begun;
    expect_equal("the sum of the numbers", sum, messages * (messages - 1) / 2);
    return 1e9 * seconds / static_cast<double>(3 * messages);
}

constexpr auto k_plain = play<PMPI_Isend, PMPI_Recv, PMPI_Wait>;
constexpr auto k_interposed = play<MPI_Isend, MPI_Recv, MPI_Wait>;

/// Figure `added`: ns more than MPI's own functions took just before.
measurement compared(long messages) {
    const double plain = k_plain(messages);
    const double value = k_interposed(messages);
    return {value, static_cast<int>(messages), {{"added", value - plain}}};
}

const contender raw{"mpi_call", "raw", [](const arguments& a) {
                        return ranks::together([messages = a.size] {
                            return measurement{k_plain(messages), 1, {}};
                        });
                    }};

/// As in a program, or a part of one, that makes no runtime.
const contender without_runtime{
    "mpi_call", "without_runtime", [](const arguments& a) {
        return ranks::together([messages = a.size] { return compared(messages); });
    }};

/// The main thread, while a runtime lives.
const contender beside_runtime{
    "mpi_call", "beside_runtime", [](const arguments& a) {
        return ranks::together(
            [rt = quern_runtime(a), messages = a.size] { return compared(messages); });
    }};

}  // namespace

}  // namespace bench::mpi_call
