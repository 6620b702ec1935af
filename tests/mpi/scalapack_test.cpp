// SPDX-License-Identifier: BSL-1.0
// ScaLAPACK as Debian builds it, in tasks: its Cholesky factorisation pdpotrf on a 2x2 grid of
// ranks with one worker each. Its calls of MPI must arrive at this layer, other tasks of the worker
// must run while it waits, and the factor must be right.
#include "world.hpp"

#include <quern/task/async.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* place, const int* first, const int* places);
void descinit_(int* descriptor, const int* m, const int* n, const int* row_block,
               const int* column_block, const int* first_row, const int* first_column,
               const int* context, const int* leading, int* info);
void pdpotrf_(const char* half, const int* n, double* a, const int* row, const int* column,
              const int* descriptor, int* info);
}

namespace {

using quern_test::this_world;

constexpr int k_n = 384;
constexpr int k_block = 32;

/// Symmetric and positive definite.
double element(int row, int column) {
    return row == column ? k_n : 1.0 / (1.0 + std::abs(row - column));
}

/// The part of a rank of a matrix distributed in blocks over a 2x2 grid.
class grid_matrix {
public:
    grid_matrix() {
        Cblacs_get(-1, 0, &m_context);
        Cblacs_gridinit(&m_context, "Row", 2, 2);
        int rows = 0;
        int columns = 0;
        Cblacs_gridinfo(m_context, &rows, &columns, &m_row, &m_column);
        const int zero = 0;
        const int two = 2;
        m_rows = numroc_(&k_n, &k_block, &m_row, &zero, &two);
        m_columns = numroc_(&k_n, &k_block, &m_column, &zero, &two);
        int info = -1;
        descinit_(m_descriptor, &k_n, &k_n, &k_block, &k_block, &zero, &zero, &m_context, &m_rows,
                  &info);
        EXPECT_EQ(info, 0);
        m_values.resize(static_cast<std::size_t>(m_rows) * static_cast<std::size_t>(m_columns));
        for_each([](int row, int column, double& value) { value = element(row, column); });
    }
    grid_matrix(const grid_matrix&) = delete;
    grid_matrix& operator=(const grid_matrix&) = delete;
    ~grid_matrix() { Cblacs_gridexit(m_context); }

    int factorise() {
        const int one = 1;
        int info = -1;
        pdpotrf_("L", &k_n, m_values.data(), &one, &one, m_descriptor, &info);
        return info;
    }

    /// The largest element of |A - L L'|, on all ranks.
    double residual() {
        std::vector<double> factor(std::size_t{k_n} * k_n);
        for_each([&](int row, int column, double& value) {
            factor[static_cast<std::size_t>(row * k_n + column)] = row >= column ? value : 0;
        });
        MPI_Allreduce(MPI_IN_PLACE, factor.data(), k_n * k_n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double worst = 0;
        for (int row = 0; row < k_n; ++row) {
            for (int column = 0; column <= row; ++column) {
                double sum = 0;
                for (int k = 0; k <= column; ++k) {
                    sum += factor[static_cast<std::size_t>(row * k_n + k)] *
                           factor[static_cast<std::size_t>(column * k_n + k)];
                }
                worst = std::max(worst, std::fabs(sum - element(row, column)));
            }
        }
        return worst;
    }

private:
    template <class F>
    void for_each(F f) {
        for (int column = 0; column < m_columns; ++column) {
            for (int row = 0; row < m_rows; ++row) {
                f(global(row, m_row), global(column, m_column),
                  m_values[static_cast<std::size_t>(column * m_rows + row)]);
            }
        }
    }

    static int global(int local, int place) {
        return (local / k_block * 2 + place) * k_block + local % k_block;
    }

    int m_context = -1;
    int m_row = 0;
    int m_column = 0;
    int m_rows = 0;
    int m_columns = 0;
    int m_descriptor[9] = {};
    std::vector<double> m_values;
};

/// ScaLAPACK finds MPI's functions as this does: in the program, before the MPI library.
TEST(mpi_scalapack, its_calls_of_mpi_arrive_at_this_layer) {
    Dl_info here{};
    ASSERT_NE(::dladdr(reinterpret_cast<void*>(&numroc_), &here), 0);
    Dl_info program{};
    ASSERT_NE(::dladdr(reinterpret_cast<void*>(&this_world), &program), 0);
    for (const char* const name :
         {"MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Comm_create", "MPI_Comm_dup",
          "MPI_Comm_free", "MPI_Comm_split", "MPI_Irecv", "MPI_Isend", "MPI_Recv", "MPI_Reduce",
          "MPI_Rsend", "MPI_Send", "MPI_Sendrecv", "MPI_Testall", "MPI_Waitall", "MPI_Pack"}) {
        Dl_info found{};
        void* const function = ::dlsym(RTLD_DEFAULT, name);
        ASSERT_NE(::dladdr(function, &found), 0) << name;
        EXPECT_EQ(found.dli_fbase, program.dli_fbase)
            << name << " is found in " << found.dli_fname << " and not in the program";
    }
    EXPECT_NE(here.dli_fbase, program.dli_fbase) << "ScaLAPACK is no shared library here";
}

TEST(mpi_scalapack, pdpotrf_in_a_task_while_others_run) {
    ASSERT_EQ(this_world().size, 4);
    grid_matrix matrix;
    long others = 0;
    {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        std::atomic<bool> has_begun{false};
        std::atomic<bool> has_ended{false};
        auto factorisation = quern::async(
            {.stack = quern::stack_class::large, .pool = &rt.default_pool().get()}, [&] {
                has_begun = true;
                const int info = matrix.factorise();
                has_ended = true;
                return info;
            });
        auto other = quern::async(rt, [&] {
            while (!has_ended) {
                others += has_begun ? 1 : 0;
                quern::this_task::yield();
            }
        });
        EXPECT_EQ(factorisation.get(), 0);
        other.get();
    }
    // The rank with the first block may wait for none of the messages.
    long all = 0;
    MPI_Allreduce(&others, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_GT(all, 0) << "no other task has run while a rank waited";
    const double worst = matrix.residual();
    EXPECT_LT(worst, 1e-12 * k_n);
    if (this_world().rank == 0) {
        std::printf("[ pdpotrf  ] %d x %d: residual %g; other tasks ran %ld times\n", k_n, k_n,
                    worst, all);
    }
}

}  // namespace
