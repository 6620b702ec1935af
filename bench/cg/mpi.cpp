// SPDX-License-Identifier: BSL-1.0
// Conjugate gradients for the Laplacian of a square (apps/mpi/cg), a fixed number of iterations.
// Size: points along a side.
#include "../../apps/mpi/cg/variants.hpp"

#include "../harness/mpi_apps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bench::mpi_cg {

namespace {

struct app {
    explicit app(const arguments& a)
        : s(static_cast<std::size_t>(a.size), k_strip, ranks::here()) {}
    void reset() { s.reset(); }
    /// The residual that the iterations change must be the true one.
    void check() {
        expect_equal("the number of iterations", iterations, k_until.most);
        std::copy(s.x.begin(), s.x.end(), s.p(0));
        cg::exchange(s);
        double worst = 0;
        for (std::size_t i = 0; i < s.strips(); ++i) {
            s.multiply_strip(i);
        }
        for (std::size_t i = 0; i < s.x.size(); ++i) {
            const double difference = std::abs(s.b[i] - s.q[i] - s.r[i]);
            worst = difference <= worst ? worst : difference;  // also if it is no number
        }
        ranks::expect_below("|b - A x - r|", worst, 1e-10);
    }
    void messages() { cg::by_messages_alone(s, k_until.most); }
    void pure() { iterations = cg::by_plain_calls(s, k_until); }
    void fork_join() { iterations = cg::by_fork_join(s, k_until); }
    void tasks() { iterations = cg::by_tasks(s, k_until); }

    static constexpr std::size_t k_strip = 64;
    static constexpr cg::limits k_until{1e-14, 50};

    cg::linear_system s;
    std::size_t iterations = 0;
};

const contender pure = ranks::pure_of<app>("cg", "pure");
const contender fork_join =
    ranks::variant_of<app>("cg", "fork_join", &app::fork_join, ranks::beside_runtime);
const ranks::by_each_mechanism tasks = ranks::tasks_of<app>("cg", &app::tasks);

}  // namespace

}  // namespace bench::mpi_cg
