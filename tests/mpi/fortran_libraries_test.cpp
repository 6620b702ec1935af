// SPDX-License-Identifier: BSL-1.0
// Which libraries this layer takes for Fortran libraries of MPI, so that their calls come to it,
// and what it says where they do not. No Fortran is compiled: fortran_test.cpp.
#include "world.hpp"

#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

/// It stays loaded, as libraries of MPI do.
void* load(const char* path) {
    void* const loaded = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(loaded, nullptr) << ::dlerror();
    return loaded;
}

TEST(mpi_fortran_libraries, one_that_is_loaded_before_a_runtime_starts) {
    void* const loaded = load(QUERN_TEST_FORTRAN_BOUND);
    auto* const receive =
        reinterpret_cast<int (*)(int*, int, MPI_Comm)>(::dlsym(loaded, "fortran_bound_receive"));
    ASSERT_NE(receive, nullptr);
    const own_comm comm;
    const int peer = 1 - this_world().rank;
    int got = -1;
    quern::runtime rt(quern::runtime_options::with_workers(1));
    auto received = quern::async(rt, [&] { receive(&got, peer, comm); });
    // With the worker in MPI this would wait for ever, on both ranks.
    quern::async(rt, [&] { MPI_Send(&this_world().rank, 1, MPI_INT, peer, 0, comm); }).get();
    received.get();
    EXPECT_EQ(got, peer);
}

TEST(mpi_fortran_libraries, one_whose_calls_pass_by_is_named_once) {
    const auto said_by_a_runtime = [] {
        testing::internal::CaptureStderr();
        quern::runtime rt(quern::runtime_options::with_workers(1));
        return testing::internal::GetCapturedStderr();
    };
    load(QUERN_TEST_FORTRAN_EMPTY);
    const std::string said = said_by_a_runtime();
    EXPECT_NE(said.find("calls of MPI in Fortran pass by Quern"), std::string::npos) << said;
    EXPECT_NE(said.find(QUERN_TEST_FORTRAN_EMPTY), std::string::npos) << said;
    EXPECT_EQ(said_by_a_runtime().find("Fortran"), std::string::npos);
}

}  // namespace
