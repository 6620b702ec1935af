// SPDX-License-Identifier: BSL-1.0
// Collectives of concurrent tasks, matched by a key: tasks in a different order on each rank.
// TEST_MPI_SEEDS sets the number of orders (20).
#include "world.hpp"

#include <quern/mpi/keyed.hpp>
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

int number_of_orders() {
    const char* const given = std::getenv("TEST_MPI_SEEDS");
    return given != nullptr ? std::atoi(given) : 20;
}

TEST(mpi_keyed, tasks_in_any_order_get_the_sum_of_their_key) {
    constexpr int k_keys = 64;
    const own_comm comm;
    quern::runtime rt(quern::runtime_options::with_workers(2));
    const int ranks = this_world().size;
    const int orders = number_of_orders();
    for (int seed = 0; seed < orders; ++seed) {
        std::vector<int> keys(k_keys);
        std::iota(keys.begin(), keys.end(), 0);
        std::mt19937 random(static_cast<unsigned>(1000 * seed + this_world().rank));
        std::shuffle(keys.begin(), keys.end(), random);
        std::vector<int> sums(k_keys);
        quern::async(rt, [&] {
            quern::task_group all;
            for (const int key : keys) {
                all.run([&, key] {
                    int sum = key * (this_world().rank + 1) + seed;
                    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM,
                                  quern::mpi::keyed(comm, key));
                    sums[static_cast<std::size_t>(key)] = sum;
                });
            }
            all.wait();
        }).get();
        for (int key = 0; key < k_keys; ++key) {
            ASSERT_EQ(sums[static_cast<std::size_t>(key)],
                      key * ranks * (ranks + 1) / 2 + seed * ranks)
                << "key " << key << ", order " << seed;
        }
    }
}

TEST(mpi_keyed, a_key_stands_for_one_communicator) {
    const own_comm comm;
    const MPI_Comm first = quern::mpi::keyed(comm, 7);
    const MPI_Comm second = quern::mpi::keyed(comm, -1);
    EXPECT_EQ(first, quern::mpi::keyed(comm, 7));
    EXPECT_NE(first, second);
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm, first, &result);
    EXPECT_EQ(result, MPI_CONGRUENT);
}

TEST(mpi_keyed, a_later_communicator_has_keys_of_its_own) {
    for (int i = 0; i < 3; ++i) {
        const own_comm comm;  // the library may give it the handle of the one before
        int sum = 1;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, quern::mpi::keyed(comm, 1));
        EXPECT_EQ(sum, this_world().size);
    }
}

TEST(mpi_keyed, no_communicator_is_refused) {
    EXPECT_THROW(quern::mpi::keyed(MPI_COMM_NULL, 1), std::invalid_argument);
}

}  // namespace
