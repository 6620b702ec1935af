// SPDX-License-Identifier: BSL-1.0
// Collective calls that the non-blocking forms of an MPI library do wrong: exchanges with the
// neighbours of periodic grids, of which one or two ranks are both neighbours, and types of size 0.
#include "mpi/world.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/task/async.hpp>

#include <mpi.h>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace {

using quern_test::this_world;

/// 100 * sender + 10 * dimension + direction (0: to the lower neighbour, 1: to the upper one).
int value_of(int sender, std::size_t dimension, int direction) {
    return 100 * sender + 10 * static_cast<int>(dimension) + direction;
}

void exchange_on(std::vector<int> ranks, int is_periodic) {
    const std::vector<int> periodic(ranks.size(), is_periodic);
    MPI_Comm grid = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(ranks.size()), ranks.data(), periodic.data(),
                    0, &grid);
    if (grid == MPI_COMM_NULL) {
        return;
    }
    int own = 0;
    MPI_Comm_rank(grid, &own);
    const std::size_t count = 2 * ranks.size();
    std::vector<int> sent(count), counts(count, 1), places(count);
    std::vector<MPI_Aint> bytes(count);
    const std::vector<MPI_Datatype> types(count, MPI_INT);
    for (std::size_t i = 0; i < count; ++i) {
        sent[i] = value_of(own, i / 2, static_cast<int>(i % 2));
        places[i] = static_cast<int>(i);
        bytes[i] = static_cast<MPI_Aint>(i * sizeof(int));
    }
    // What the library's own blocking functions give is the program's, right or wrong (MPICH 4.0).
    std::vector<int> expected(count, -1);
    PMPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, expected.data(), 1, MPI_INT, grid);
    std::vector<int> received(count, -1);
    MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, grid);
    EXPECT_EQ(received, expected) << "MPI_Neighbor_alltoall";
    received.assign(count, -1);
    expected.assign(count, -1);
    PMPI_Neighbor_alltoallv(sent.data(), counts.data(), places.data(), MPI_INT, expected.data(),
                            counts.data(), places.data(), MPI_INT, grid);
    MPI_Neighbor_alltoallv(sent.data(), counts.data(), places.data(), MPI_INT, received.data(),
                           counts.data(), places.data(), MPI_INT, grid);
    EXPECT_EQ(received, expected) << "MPI_Neighbor_alltoallv";
    received.assign(count, -1);
    expected.assign(count, -1);
    PMPI_Neighbor_alltoallw(sent.data(), counts.data(), bytes.data(), types.data(), expected.data(),
                            counts.data(), bytes.data(), types.data(), grid);
    MPI_Neighbor_alltoallw(sent.data(), counts.data(), bytes.data(), types.data(), received.data(),
                           counts.data(), bytes.data(), types.data(), grid);
    EXPECT_EQ(received, expected) << "MPI_Neighbor_alltoallw";
    MPI_Comm_free(&grid);
}

void exchange_on_all_grids() {
    const int size = this_world().size;
    exchange_on({1}, 1);
    exchange_on({size}, 1);
    exchange_on({size}, 0);
    exchange_on({size, 1}, 1);
    exchange_on({1, size}, 1);
    if (size % 2 == 0) {
        exchange_on({2, size / 2}, 1);
        exchange_on({2, 1, size / 2}, 1);
    }
}

TEST(corrected, neighbours_in_a_task) {
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::async(rt, [] { exchange_on_all_grids(); }).get();
}
TEST(corrected, neighbours_without_a_runtime) { exchange_on_all_grids(); }

/// No element on one side, and an element of size 0 on the other: nothing is sent.
void exchange_nothing() {
    MPI_Datatype empty = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    const auto size = static_cast<std::size_t>(this_world().size);
    const std::vector<int> none(size, 0), one(size, 1), places(size, 0);
    int sent = 5, received = 7;
    MPI_Alltoallv(&sent, none.data(), places.data(), MPI_INT, &received, one.data(), places.data(),
                  empty, MPI_COMM_WORLD);
    MPI_Alltoallv(&sent, one.data(), places.data(), empty, &received, none.data(), places.data(),
                  MPI_INT, MPI_COMM_WORLD);
    EXPECT_EQ(received, 7);
    MPI_Type_free(&empty);
}

TEST(corrected, types_of_size_0_in_a_task) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::async(rt, [] { exchange_nothing(); }).get();
}
TEST(corrected, types_of_size_0_without_a_runtime) { exchange_nothing(); }

}  // namespace
