// SPDX-License-Identifier: BSL-1.0
// The main function of the tests of the layer mpi. All ranks run all cases; rank 0 alone prints
// them, so that scripts/run-tests counts each once. A case fails if it fails on any rank. Must
// never outlive its time limit: a rank that waits for ever would stay behind.
#include "world.hpp"

#include <quern/mpi/environment.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#    include <sanitizer/lsan_interface.h>
#endif

namespace {

quern_test::world g_world;

/// Prints failures of ranks other than 0, in words that are not counted.
class failure_printer final : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed()) {
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", g_world.rank,
                         result.file_name() == nullptr ? "?" : result.file_name(),
                         result.line_number(), result.message());
        }
    }
};

/// Ends each case with all ranks.
class all_ranks final : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo& info) override {
        const int failed = info.result()->Failed() ? 1 : 0;
        std::vector<int> all(static_cast<std::size_t>(g_world.size));
        MPI_Allgather(&failed, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
        for (int rank = 0; rank < g_world.size; ++rank) {
            if (failed == 0 && all[static_cast<std::size_t>(rank)] != 0) {
                ADD_FAILURE() << "failed on rank " << rank;
            }
        }
    }
};

void set_listeners() {
    testing::TestEventListeners& all = testing::UnitTest::GetInstance()->listeners();
    if (g_world.rank != 0) {
        delete all.Release(all.default_result_printer());
        all.Append(new failure_printer);
    }
    all.Append(new all_ranks);  // last: it is told of the end of a case first
}

/// The address sanitizer looks once, here and not at exit. MPI_Finalize unloads libraries, after
/// which lsan.supp could not name what they have not freed.
void look_for_leaks() {
#if defined(__SANITIZE_ADDRESS__)
    __lsan_do_leak_check();
#endif
}

#if defined(QUERN_TEST_MPI_IN_FORTRAN)
extern "C" void initialise_mpif();
extern "C" void finalise_mpif();

/// As a program whose main function is in Fortran.
class fortran_world {
public:
    fortran_world(int& /*argc*/, char**& /*argv*/) { initialise_mpif(); }
    fortran_world(const fortran_world&) = delete;
    fortran_world& operator=(const fortran_world&) = delete;
    ~fortran_world() { finalise_mpif(); }
};
using initialised_mpi = fortran_world;
#elif defined(QUERN_TEST_MPI_MULTIPLE)
/// As a program that asks for the level by itself.
class multiple_threads {
public:
    multiple_threads(int& argc, char**& argv) {
        int provided = MPI_THREAD_SINGLE;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    }
    multiple_threads(const multiple_threads&) = delete;
    multiple_threads& operator=(const multiple_threads&) = delete;
    ~multiple_threads() { MPI_Finalize(); }
};
using initialised_mpi = multiple_threads;
#else
using initialised_mpi = quern::mpi::environment;
#endif

}  // namespace

const quern_test::world& quern_test::this_world() noexcept { return g_world; }

int main(int argc, char** argv) {
    const char* const limit = std::getenv("TEST_MPI_SECONDS");
    if (limit != nullptr) {
        ::alarm(static_cast<unsigned>(std::atoi(limit)));
    }
    const initialised_mpi mpi(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g_world.size);
    testing::InitGoogleTest(&argc, argv);
    set_listeners();
    const int result = RUN_ALL_TESTS();
    look_for_leaks();
    return result;
}
