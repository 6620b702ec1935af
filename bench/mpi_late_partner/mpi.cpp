// SPDX-License-Identifier: BSL-1.0
// A task computes and exchanges messages with its partner on the other rank, step by step, while
// another task waits for a partner that comes late. The value is the seconds of the first task.
// Size: its steps.
#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"
#include "../harness/work.hpp"

#include <quern/quern.hpp>

namespace bench::mpi_late_partner {

namespace {

constexpr double k_work = 50e-6;  // seconds of a step on each rank
enum tags : int { k_prompt = 1, k_late = 2 };

/// A number goes back and forth, and each rank adds 1 to it. Returns the seconds of all steps.
double exchange_promptly(long steps) {
    const bool is_first = ranks::rank() == 0;
    const int peer = is_first ? 1 : 0;
    const long work_of_step = steps_for(k_work);
    long number = 0;
    const double begun = now();
    for (long i = 0; i < 2 * steps; ++i) {
        const bool is_my_turn = (i % 2 == 0) == is_first;
        if (is_my_turn) {
            static_cast<void>(work(work_of_step));
            ++number;
            MPI_Send(&number, 1, MPI_LONG, peer, k_prompt, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&number, 1, MPI_LONG, peer, k_prompt, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    const double seconds = now() - begun;
    expect_equal("the number", number, 2 * steps);
    return seconds;
}

/// The same while a message is awaited that rank 1 sends when this has ended.
double beside_late_partner(long steps) {
    quern::task_group other;
    quern::event is_over;
    long answer = 0;
    other.run([&] {
        if (ranks::rank() == 0) {
            MPI_Recv(&answer, 1, MPI_LONG, 1, k_late, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            is_over.wait();
            MPI_Send(&steps, 1, MPI_LONG, 0, k_late, MPI_COMM_WORLD);
        }
    });
    const double seconds = exchange_promptly(steps);
    is_over.set();
    other.wait();
    expect_equal("the late number", answer, ranks::rank() == 0 ? steps : 0);
    return seconds;
}

/// Figure `to_alone`: compared with the first task alone, just before.
const contender tasks{"mpi_late_partner", "tasks", [](const arguments& a) {
                          return ranks::together(quern_job(a, [steps = a.size] {
                              const double alone = exchange_promptly(steps);
                              const double value = beside_late_partner(steps);
                              return measurement{value, 1, {{"to_alone", value / alone}}};
                          }));
                      }};

}  // namespace

}  // namespace bench::mpi_late_partner
