// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of the layer localities: a session on a runtime of its own, and the fixture
// that runs a case on 1 and 2 workers. MPI is initialised by tests/mpi/main.cpp; every rank runs
// every case, so all begin and end their sessions together.
#pragma once

#include "mpi/world.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace quern_test {

/// The localities of the job, on the default runtime, which has so many workers and ends with it.
/// What a case counts in variables of the process must be reset before: when the constructor
/// returns, functions of other localities may have been called here.
class own_job {
public:
    explicit own_job(unsigned workers)
        : m_runtime(std::in_place, quern::runtime_options::with_workers(workers)) {
        m_session.emplace(m_argc, m_argv);
    }
    own_job(const own_job&) = delete;
    own_job& operator=(const own_job&) = delete;

    /// Returns when the whole job has nothing more to do.
    void end() {
        m_session.reset();
        m_runtime.reset();
    }

private:
    int m_argc = 0;
    char* m_no_argument = nullptr;
    char** m_argv = &m_no_argument;
    std::optional<quern::runtime> m_runtime;
    std::optional<quern::localities::session> m_session;
};

/// A case runs on 1 and on 2 workers, in a session of its own.
class on_job : public testing::TestWithParam<unsigned> {
protected:
    void end_job() { m_job.end(); }

private:
    own_job m_job{GetParam()};
};

/// The same for cases that begin their session themselves.
class on_workers : public testing::TestWithParam<unsigned> {};

inline int locality_after(int locality) { return (locality + 1) % quern::localities::count(); }
/// The locality that is called by the caller's in a ring of all.
inline int next_locality() { return locality_after(quern::localities::here()); }

/// Of all ranks. Called by all of them without a session.
inline std::uint64_t sum_of_ranks(std::uint64_t own) {
    std::uint64_t sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

inline std::uint64_t number_of_ranks() { return static_cast<std::uint64_t>(this_world().size); }

/// The report of the exception that the future has; without one, an empty one.
template <class T>
quern::localities::error_report error_of(quern::future<T> failed) {
    try {
        failed.get();
    } catch (const quern::localities::remote_error& error) {
        return error.report();
    }
    return {};
}

inline std::string name_of_workers(const testing::TestParamInfo<unsigned>& info) {
    return std::to_string(info.param) + (info.param == 1 ? "_worker" : "_workers");
}

#define QUERN_ON_1_2_WORKERS(suite) \
    INSTANTIATE_TEST_SUITE_P(on, suite, testing::Values(1U, 2U), quern_test::name_of_workers)

}  // namespace quern_test
