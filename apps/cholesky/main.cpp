// SPDX-License-Identifier: BSL-1.0
// cholesky: A = L L', a task for each operation on tiles, ordered by the tiles that it reads and
// writes: figure 2.5 of the thesis on OmpSs, and the usual example of data-dependence tasks.
#include "kernels.hpp"
#include "matrix.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <quern/dependences/domain.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace cholesky {

namespace {

constexpr const char* k_examples = R"(Examples:
  cholesky                              1024 rows in tiles of 128
  cholesky --n 4096 --tile 256 --threads 2
  cholesky --n 1000 --tile 300          the last tiles are smaller
  cholesky --n 100 --diagonal 0         not positive definite: says so)";

/// Calls them in the order of the serial program.
void factorise(matrix& a) {
    for (std::size_t k = 0; k < a.tiles(); ++k) {
        potrf(a.at(k, k), a.first_row(k));
        for (std::size_t i = k + 1; i < a.tiles(); ++i) {
            trsm(a.at(k, k), a.at(i, k));
        }
        for (std::size_t i = k + 1; i < a.tiles(); ++i) {
            for (std::size_t j = k + 1; j < i; ++j) {
                gemm(a.at(i, k), a.at(j, k), a.at(i, j));
            }
            syrk(a.at(i, k), a.at(i, i));
        }
    }
}

/// The same program with tasks. Those on the way to the next diagonal tile have the larger ranks.
void factorise_by_tasks(matrix& a) {
    using quern::in;
    using quern::inout;
    quern::domain work;
    for (std::size_t k = 0; k < a.tiles(); ++k) {
        const auto left = static_cast<std::int16_t>(
            std::min<std::size_t>(a.tiles() - k, std::numeric_limits<std::int16_t>::max() / 4));
        const auto rank = [left](int within) { return static_cast<std::int16_t>(left + within); };
        const tile kk = a.at(k, k);
        work.spawn({.name = "potrf", .rank = rank(3)}, inout(kk.numbers),
                   [kk, before = a.first_row(k)] { potrf(kk, before); });
        for (std::size_t i = k + 1; i < a.tiles(); ++i) {
            const tile ik = a.at(i, k);
            work.spawn({.name = "trsm", .rank = rank(2)}, in(kk.numbers), inout(ik.numbers),
                       [kk, ik] { trsm(kk, ik); });
        }
        for (std::size_t i = k + 1; i < a.tiles(); ++i) {
            const tile ik = a.at(i, k);
            for (std::size_t j = k + 1; j < i; ++j) {
                const tile jk = a.at(j, k);
                const tile ij = a.at(i, j);
                work.spawn({.name = "gemm", .rank = rank(0)}, in(ik.numbers), in(jk.numbers),
                           inout(ij.numbers), [ik, jk, ij] { gemm(ik, jk, ij); });
            }
            const tile ii = a.at(i, i);
            work.spawn({.name = "syrk", .rank = rank(1)}, in(ik.numbers), inout(ii.numbers),
                       [ik, ii] { syrk(ik, ii); });
        }
    }
    work.taskwait();
}

std::size_t tasks_for(std::size_t tiles) { return tiles * (tiles + 1) * (tiles + 2) / 6; }

int run(int argc, char** argv) {
    cli::command_line app("Cholesky factorisation by tiles, with tasks ordered by their data.",
                          "cholesky");
    std::size_t n = 1024;
    std::size_t side = 128;
    double diagonal = 0;
    int repeat = 5;
    apps::add_count(app, "--n", n, 1, 100'000, "rows and columns");
    const cli::option has_side =
        apps::add_count(app, "--tile", side, 1, 100'000, "rows and columns of a tile, at most n");
    const cli::option has_diagonal = apps::add_number(app, "--diagonal", diagonal, -1e9, 1e9,
                                                      "added to the diagonal; without it, n");
    apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    if (side > n && has_side.given()) {
        throw apps::usage_error(
            fmt::format("--tile is '{}'; accepted: a whole number from 1 to --n, {}", side, n));
    }
    side = std::min(side, n);
    diagonal = has_diagonal.given() ? diagonal : static_cast<double>(n);
    const quern::runtime rt;
    matrix a(n, side);
    double worst = 0;
    const auto measured = [&](auto&& how) {
        a.fill(diagonal);
        const double seconds = apps::seconds_of(how);
        const double found = a.residual(diagonal);
        constexpr double k_most = 10;
        if (!(found <= k_most)) {
            throw std::runtime_error(fmt::format("wrong answer: the residual is {}", found));
        }
        worst = std::max(worst, found);
        return seconds;
    };
    std::vector<apps::variant> variants;
    variants.push_back({"serial", [&] { return measured([&] { factorise(a); }); }});
    variants.push_back({"tasks", [&] {
                            return measured(
                                [&] { quern::async(rt, [&a] { factorise_by_tasks(a); }).get(); });
                        }});
    apps::run_in_turns(variants, repeat);
    const double flop =
        static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
    fmt::print(
        "cholesky: {} rows in tiles of {}, {} tasks: residual at most {:.2g}, right in every "
        "run\n",
        n, side, tasks_for(a.tiles()), worst);
    fmt::print("{} worker{}, policy {}, median of {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy(), repeat);
    apps::print_ratios(variants);
    fmt::print("  GFLOP/s: serial {:.2f}, tasks {:.2f}\n", flop / variants[0].middle() / 1e9,
               flop / variants[1].middle() / 1e9);
    return apps::k_success;
}

}  // namespace

}  // namespace cholesky

int main(int argc, char** argv) {
    return apps::guarded_main("cholesky", [&] { return cholesky::run(argc, argv); });
}
