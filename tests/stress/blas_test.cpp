// SPDX-License-Identifier: BSL-1.0
// Whether the BLAS that the applications use may be called by several workers at a time: tiny
// kernels, so that the calls meet where the library takes its buffers, compared in every bit with
// calls of one thread. OpenBLAS's serial build fails here (its issue 2126).
#include "../../apps/common/blas.hpp"

#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace {

/// The results of a product and of two factorisations.
struct results {
    std::vector<double> product, cholesky, lu;
    std::vector<int> pivots;

    bool operator==(const results&) const = default;
};

class blas_inputs {
public:
    explicit blas_inputs(int n) : m_n(n), m_any(size()), m_definite(size()) {
        for (std::size_t i = 0; i < size(); ++i) {
            m_any[i] = static_cast<double>((i * i * 7919 + 13 * i) % 1009) / 1009 - 0.5;
        }
        for (int c = 0; c < n; ++c) {
            for (int r = 0; r < n; ++r) {
                of(m_definite)(r, c) = of(m_any)(std::max(r, c), std::min(r, c)) + (r == c ? n : 0);
            }
        }
    }

    void compute(results& to) {
        to.product.assign(size(), 0.0);
        to.cholesky = m_definite;
        to.lu = m_any;
        to.pivots.assign(static_cast<std::size_t>(m_n), 0);
        blas::gemm('N', 'T', 1, of(m_any), of(m_definite), 0, of(to.product));
        EXPECT_EQ(blas::potrf(of(to.cholesky)), 0);
        EXPECT_EQ(blas::getrf(of(to.lu), to.pivots.data()), 0);
    }

private:
    std::size_t size() const {
        return static_cast<std::size_t>(m_n) * static_cast<std::size_t>(m_n);
    }
    blas::matrix of(std::vector<double>& numbers) const { return {numbers.data(), m_n, m_n, m_n}; }

    int m_n;
    std::vector<double> m_any;
    std::vector<double> m_definite;
};

TEST(blas_stress, several_workers_get_the_results_of_one_thread) {
    blas::use_calling_thread();
    constexpr int k_workers = 4;
    constexpr int k_times = 20'000;
    const quern::runtime rt(quern::runtime_options::with_workers(k_workers));
    for (const int n : {6, 20, 33}) {
        blas_inputs inputs(n);
        results expected;
        inputs.compute(expected);
        std::atomic<int> wrong{0};
        quern::async(rt, [&] {
            quern::task_group group;
            for (int task = 0; task < k_workers; ++task) {
                group.run([&] {
                    results found;
                    for (int i = 0; i < k_times; ++i) {
                        inputs.compute(found);
                        wrong += found == expected ? 0 : 1;
                    }
                });
            }
            group.wait();
        }).get();
        EXPECT_EQ(wrong, 0) << "of " << k_workers * k_times << " for matrices of " << n;
    }
}

}  // namespace
