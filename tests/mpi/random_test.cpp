// SPDX-License-Identifier: BSL-1.0
// Random programs of several ranks: trees of conversations, each a task on every rank, that send
// and receive in all modes, from any rank too, and call collective functions on communicators of
// their own. All ranks derive the same program from one seed, so every message has its receipt;
// workers and yields differ. TEST_STRESS_SEED sets the first seed, TEST_STRESS_PROGRAMS the number.
#include "stress/seed.hpp"
#include "world.hpp"

#include <quern/task/task_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

using quern_test::dice;
using quern_test::own_comm;
using quern_test::this_world;

constexpr std::uint32_t k_roots = 8;  ///< conversations at the top, each with a communicator
constexpr int k_tags = 64;            ///< of one root
constexpr int k_most_children = 3;

class random_conversations {
public:
    random_conversations(const std::vector<own_comm>& comms, std::uint64_t seed)
        : m_comms(comms), m_seed(seed) {}

    /// Number of wrong values.
    int run() {
        dice own(m_seed + 1000 * static_cast<std::uint64_t>(this_world().rank));
        quern::runtime rt(quern::runtime_options::with_workers(1 + own.below(3)));
        std::vector<quern::future<void>> roots;
        for (std::uint32_t root = 0; root < k_roots; ++root) {
            roots.push_back(
                quern::async(rt, [this, root] { run_one(dice(m_seed).child(root), root, 0, 0); }));
        }
        for (auto& each : roots) {
            each.get();
        }
        return m_wrong;
    }

private:
    void expect(bool is_right) { m_wrong += is_right ? 0 : 1; }

    /// `place` is its number within the tree of the root.
    void run_one(dice plan, std::uint32_t root, int place, int depth) {
        const int tag = static_cast<int>(root) * k_tags + place;
        quern::task_group children;
        const int count = depth < 2 ? static_cast<int>(plan.below(k_most_children + 1)) : 0;
        for (int child = 0; child < count; ++child) {
            children.run([this, root, depth, below = plan.child(static_cast<std::uint32_t>(child)),
                          at = place * k_most_children + child + 1] {
                run_one(below, root, at, depth + 1);
            });
        }
        const std::uint32_t steps = 1 + plan.below(6);
        for (std::uint32_t step = 0; step < steps; ++step) {
            take_step(plan, root, tag, depth);
            if ((step + static_cast<std::uint32_t>(this_world().rank)) % 3 == 0) {
                quern::this_task::yield();
            }
        }
        children.wait();
    }

    void take_step(dice& plan, std::uint32_t root, int tag, int depth) {
        const std::uint32_t kind = plan.below(depth == 0 ? 8 : 4);
        switch (kind) {
            case 0:
                send_one(plan, tag);
                break;
            case 1:
                gather_from_any(plan, tag);
                break;
            case 2:
                shift(plan, tag);
                break;
            case 3:
                exchange_all(plan, tag);
                break;
            default:
                call_collective(plan, m_comms[root], kind - 4);
                break;
        }
    }

    /// A random rank sends to another one, in a random mode.
    void send_one(dice& plan, int tag) {
        const int size = this_world().size;
        const int from = static_cast<int>(plan.below(static_cast<std::uint32_t>(size)));
        const int to =
            (from + 1 + static_cast<int>(plan.below(static_cast<std::uint32_t>(size - 1)))) % size;
        const std::uint32_t mode = plan.below(4);
        const auto count = std::size_t{1} << plan.below(16);
        const int first = static_cast<int>(plan.below(1000));
        std::vector<int> values(count);
        std::iota(values.begin(), values.end(), first);
        const auto ints = static_cast<int>(count);
        if (this_world().rank == from) {
            MPI_Request request = MPI_REQUEST_NULL;
            switch (mode) {
                case 0:
                    MPI_Send(values.data(), ints, MPI_INT, to, tag, MPI_COMM_WORLD);
                    break;
                case 1:
                    MPI_Ssend(values.data(), ints, MPI_INT, to, tag, MPI_COMM_WORLD);
                    break;
                default:
                    MPI_Isend(values.data(), ints, MPI_INT, to, tag, MPI_COMM_WORLD, &request);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
        } else if (this_world().rank == to) {
            receive_and_compare(values, from, tag, mode);
        }
    }

    void receive_and_compare(const std::vector<int>& values, int from, int tag,
                             std::uint32_t mode) {
        std::vector<int> received(values.size());
        const auto ints = static_cast<int>(values.size());
        MPI_Status status{};
        if (mode == 0) {
            int found = 0;
            MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &found);
            expect(found == ints);
        }
        if (mode == 3) {
            MPI_Request request = MPI_REQUEST_NULL;
            int flag = 0;
            MPI_Irecv(received.data(), ints, MPI_INT, from, tag, MPI_COMM_WORLD, &request);
            while (flag == 0) {
                MPI_Test(&request, &flag, &status);
            }
        } else {
            MPI_Recv(received.data(), ints, MPI_INT, from, tag, MPI_COMM_WORLD, &status);
        }
        expect(received == values && status.MPI_SOURCE == from && status.MPI_TAG == tag);
    }

    /// One rank receives from all others, whichever comes.
    void gather_from_any(dice& plan, int tag) {
        const int size = this_world().size;
        const int root = static_cast<int>(plan.below(static_cast<std::uint32_t>(size)));
        const int value = static_cast<int>(plan.below(1000));
        if (this_world().rank != root) {
            const int sent = value + this_world().rank;
            MPI_Send(&sent, 1, MPI_INT, root, tag, MPI_COMM_WORLD);
        } else {
            std::vector<bool> seen(static_cast<std::size_t>(size), false);
            for (int i = 1; i < size; ++i) {
                int received = -1;
                MPI_Status status;
                MPI_Recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
                expect(received == value + status.MPI_SOURCE);
                seen[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
            }
            expect(std::count(seen.begin(), seen.end(), true) == size - 1);
        }
        // A later message with this tag must not be taken for one of these.
        confirm(root, tag);
    }

    void confirm(int root, int tag) {
        if (this_world().rank != root) {
            MPI_Recv(nullptr, 0, MPI_INT, root, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            return;
        }
        for (int rank = 0; rank < this_world().size; ++rank) {
            if (rank != root) {
                MPI_Send(nullptr, 0, MPI_INT, rank, tag, MPI_COMM_WORLD);
            }
        }
    }

    void shift(dice& plan, int tag) {
        const int size = this_world().size;
        const int distance = 1 + static_cast<int>(plan.below(static_cast<std::uint32_t>(size - 1)));
        const int from = (this_world().rank + size - distance) % size;
        int received = -1;
        MPI_Sendrecv(&this_world().rank, 1, MPI_INT, (this_world().rank + distance) % size, tag,
                     &received, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(received == from);
    }

    /// Non-blocking messages with all ranks, waited for together.
    void exchange_all(dice& plan, int tag) {
        const auto size = static_cast<std::size_t>(this_world().size);
        const int value = static_cast<int>(plan.below(1000));
        const int sent = value + this_world().rank;
        std::vector<int> received(size, -1);
        std::vector<MPI_Request> requests(2 * size);
        for (std::size_t rank = 0; rank < size; ++rank) {
            const int peer = static_cast<int>(rank);
            MPI_Irecv(&received[rank], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[rank]);
            MPI_Isend(&sent, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[size + rank]);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (std::size_t rank = 0; rank < size; ++rank) {
            expect(received[rank] == value + static_cast<int>(rank));
        }
    }

    void call_collective(dice& plan, MPI_Comm comm, std::uint32_t kind) {
        const int size = this_world().size;
        const int value = static_cast<int>(plan.below(1000));
        const int root = static_cast<int>(plan.below(static_cast<std::uint32_t>(size)));
        const int own = value + this_world().rank;
        int result = -1;
        switch (kind) {
            case 0:
                MPI_Allreduce(&own, &result, 1, MPI_INT, MPI_SUM, comm);
                expect(result == size * value + size * (size - 1) / 2);
                break;
            case 1:
                result = own;
                MPI_Bcast(&result, 1, MPI_INT, root, comm);
                expect(result == value + root);
                break;
            case 2:
                MPI_Scan(&own, &result, 1, MPI_INT, MPI_MAX, comm);
                expect(result == own);
                break;
            default:
                MPI_Barrier(comm);
        }
    }

    const std::vector<own_comm>& m_comms;
    std::uint64_t m_seed;
    std::atomic<int> m_wrong{0};
};

TEST(mpi_random, programs_compute_the_right_values) {
    std::uint64_t seed = this_world().rank == 0 ? quern_test::stress_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const char* const given = std::getenv("TEST_STRESS_PROGRAMS");
    const int programs = given != nullptr ? std::atoi(given) : quern_test::scaled(40, 8);
    const std::vector<own_comm> comms(k_roots);
    for (int i = 0; i < programs; ++i) {
        const std::uint64_t one = seed + static_cast<std::uint64_t>(i);
        const int wrong = random_conversations(comms, one).run();
        ASSERT_EQ(wrong, 0) << "TEST_STRESS_SEED=" << one << " TEST_STRESS_PROGRAMS=1";
    }
}

}  // namespace
