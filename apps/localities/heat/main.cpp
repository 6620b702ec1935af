// SPDX-License-Identifier: BSL-1.0
// heat: Jacobi sweeps of a square whose rows are divided among the localities. Each sends the first
// and the last of its rows to its neighbours by a halo: before it computes the others, so that the
// rows travel meanwhile, or afterwards.
#include "../in_session.hpp"

#include <quern/localities/communicator.hpp>
#include <quern/localities/halo.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heat {

namespace {

namespace at = quern::localities;

constexpr const char* k_examples = R"(Examples:
  quern run -n 2 heat.openmpi
  quern run -n 4 heat.openmpi --n 4096 --steps 50 --threads 1
  quern run -n 2 heat.mpich --variant overlap)";

struct problem {
    std::size_t n = 1024;
    std::size_t steps = 100;
};

using row = std::vector<double>;

/// The rows of a rank, and one above and below them, at two times. The square is surrounded by
/// points that keep their value, 1 above it and 0 elsewhere.
class band {
public:
    band(std::size_t n, std::size_t rows, bool is_first) : m_width(n + 2), m_rows(rows) {
        for (row& each : m_at) {
            each.assign((m_rows + 2) * m_width, 0.0);
            if (is_first) {
                std::fill_n(each.begin(), m_width, 1.0);
            }
        }
    }

    std::size_t rows() const { return m_rows; }
    std::size_t width() const { return m_width; }

    /// Of the present time; row 0 is the one above the own ones.
    double* now(std::size_t index) { return &m_at[m_now][index * m_width]; }
    /// Of the time after it.
    double* next(std::size_t index) { return &m_at[1 - m_now][index * m_width]; }
    row& all_of_next() { return m_at[1 - m_now]; }

    void compute(std::size_t index) {
        const double* const above = now(index - 1);
        const double* const own = now(index);
        const double* const below = now(index + 1);
        double* const to = next(index);
        for (std::size_t i = 1; i + 1 < m_width; ++i) {
            to[i] = 0.25 * ((above[i] + below[i]) + (own[i - 1] + own[i + 1]));
        }
    }

    void step() { m_now = 1 - m_now; }

    row own_rows() { return {now(1), now(1) + m_rows * m_width}; }

private:
    std::size_t m_width;
    std::size_t m_rows;
    row m_at[2];
    int m_now = 0;
};

/// [first, last), which other tasks of the locality help with. Between blocks of rows a worker
/// looks for messages.
void compute_rows(band& own, std::size_t first, std::size_t last) {
    constexpr std::size_t k_block = 16;  // 5 us of 1024 points each
    quern::parallel_for(std::size_t{0}, (last - first + k_block - 1) / k_block, [&](std::size_t k) {
        const std::size_t begin = first + k * k_block;
        for (std::size_t i = begin; i < std::min(begin + k_block, last); ++i) {
            own.compute(i);
        }
        quern::this_task::yield();
    });
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Sweeps. Returns the seconds in which this locality has waited for rows.
double sweep(band& own, const at::halo<double>& with, const problem& p, bool overlaps) {
    double waited = 0;
    for (std::size_t s = 0; s < p.steps; ++s) {
        quern::future<void> others;
        if (overlaps) {
            own.compute(1);
            own.compute(own.rows());
            others = with.exchange(own.all_of_next());
            if (own.rows() > 2) {
                compute_rows(own, 2, own.rows());
            }
        } else {
            compute_rows(own, 1, own.rows() + 1);
            others = with.exchange(own.all_of_next());
        }
        const auto start = std::chrono::steady_clock::now();
        others.get();
        waited += seconds_since(start);
        own.step();
    }
    return waited;
}

/// The same by calls of MPI, which suspend the task.
double sweep_by_mpi(band& own, const problem& p, const apps::mpi::place& of) {
    double waited = 0;
    const int width = static_cast<int>(own.width());
    for (std::size_t s = 0; s < p.steps; ++s) {
        compute_rows(own, 1, own.rows() + 1);
        const auto start = std::chrono::steady_clock::now();
        MPI_Sendrecv(own.next(1), width, MPI_DOUBLE, of.before(), 0, own.next(own.rows() + 1),
                     width, MPI_DOUBLE, of.after(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(own.next(own.rows()), width, MPI_DOUBLE, of.after(), 1, own.next(0), width,
                     MPI_DOUBLE, of.before(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        waited += seconds_since(start);
        own.step();
    }
    return waited;
}

row swept_serially(const problem& p) {
    band all(p.n, p.n, true);
    for (std::size_t s = 0; s < p.steps; ++s) {
        for (std::size_t i = 1; i <= p.n; ++i) {
            all.compute(i);
        }
        all.step();
    }
    return all.own_rows();
}

struct outcome {
    double seconds = 0;
    double waited = 0;  ///< of the locality that has waited longest
    row points{};       ///< at the root
};

/// Runs in a task of each locality.
template <class Sweep>
outcome run_sweeps(const problem& p, const Sweep& sweeps) {
    const at::communicator world("heat");
    const at::halo<double> with(world, p.n, {.row_length = p.n + 2});
    band own(p.n, with.own_rows(), !with.has_before());
    outcome result;
    result.seconds = apps::mpi::seconds_of_all([&] { result.waited = sweeps(own, with); });
    result.waited =
        world.all_reduce(result.waited, [](double a, double b) { return std::max(a, b); }).get();
    for (const row& each : world.gather(own.own_rows()).get()) {
        result.points.insert(result.points.end(), each.begin(), each.end());
    }
    return result;
}

int run(const apps::mpi::place& of, int argc, char** argv) {
    cli::command_line app("Heat in a square whose rows are divided among the localities.", "heat");
    problem p;
    apps::mpi::variant_options common({"mpi", "blocking", "overlap"});
    apps::add_count(app, "--n", p.n, 1, 40'000, "points along each side, at least one a rank");
    apps::add_count(app, "--steps", p.steps, 1, 1'000'000, "sweeps over the square");
    common.add_to(app);
    if (!common.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    apps::mpi::require_at_least_ranks("--n", p.n, of);
    const double points = static_cast<double>(p.n) * static_cast<double>(p.n);
    apps::mpi::require_memory(6 * points * sizeof(double));
    const row expected = of.is_first() ? swept_serially(p) : row{};
    std::vector<std::pair<std::string, double>> waits;
    const auto with = [&](const std::string& name, auto sweeps) {
        return apps::variant{name, [&, name, sweeps] {
                                 const outcome one = apps::localities::in_session(
                                     argc, argv, [&](auto&) { return run_sweeps(p, sweeps); });
                                 apps::mpi::require_on_all(!of.is_first() || one.points == expected,
                                                           "the square of " + name);
                                 std::erase_if(
                                     waits, [&](const auto& each) { return each.first == name; });
                                 waits.emplace_back(name, one.waited);
                                 return one.seconds;
                             }};
    };
    std::vector<apps::variant> variants = common.chosen(
        {with("mpi", [&](band& own, const at::halo<double>&) { return sweep_by_mpi(own, p, of); }),
         with("blocking",
              [&](band& own, const at::halo<double>& to) { return sweep(own, to, p, false); }),
         with("overlap",
              [&](band& own, const at::halo<double>& to) { return sweep(own, to, p, true); })});
    apps::mpi::run_in_turns(variants, common.repeat);
    fmt::print("heat: {} x {} points, {} sweeps: the bits of the serial sweeps in each\n", p.n, p.n,
               p.steps);
    for (const auto& [name, seconds] : waits) {
        fmt::print("last run, {}: a locality has waited {:.3f} ms at most for rows\n", name,
                   1e3 * seconds);
    }
    apps::mpi::print_all(variants, common.repeat, of, points * static_cast<double>(p.steps) / 1e6,
                         "million points/s");
    return apps::k_success;
}

}  // namespace

}  // namespace heat

int main(int argc, char** argv) { return apps::mpi::guarded_main("heat", argc, argv, heat::run); }
