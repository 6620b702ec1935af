// SPDX-License-Identifier: BSL-1.0
// The panels of lu and its tasks: `fact` of a panel, `update` of those to its right, `swap` of
// those to its left. Called by main.cpp.
#pragma once

#include "../common/dense.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lu {

using apps::dense::in_blas;

struct singular_matrix : std::runtime_error {
    explicit singular_matrix(std::size_t column)
        : std::runtime_error("the matrix is singular: column " + std::to_string(column) +
                             " has no pivot") {}
};

/// a = its factors. `before`: columns of the matrix before it.
inline void factorise(const blas::matrix& a, int* pivots, std::size_t before) {
    if (const int column = blas::getrf(a, pivots); column != 0) {
        throw singular_matrix(before + static_cast<std::size_t>(column));
    }
}

/// Panels of columns, and the row that each step exchanges with its own: counted from 1, and from
/// the first row of the panel's part of the diagonal.
struct panels {
    panels(std::ptrdiff_t n, std::ptrdiff_t width)
        : numbers(n, n, n, width), pivots(static_cast<std::size_t>(n)) {}

    std::size_t count() const { return numbers.grid_columns(); }
    /// Of the panel j, the rows from those of the diagonal in panel k.
    blas::matrix below(std::size_t k, std::size_t j) {
        const blas::matrix whole = in_blas(numbers.tile(0, j));
        const int above = static_cast<int>(numbers.first_column(k));
        return whole.from(above, 0, whole.rows - above, whole.columns);
    }
    std::span<int> pivots_of(std::size_t k) {
        return std::span(pivots).subspan(numbers.first_column(k), numbers.tile(0, k).columns());
    }

    quern::tiles<double> numbers;
    std::vector<int> pivots;
};

/// Panel j, when panel k has been factorised: exchanges its rows, computes its part of U, and
/// subtracts the product from what is below.
inline void update(const blas::matrix& k, std::span<const int> pivots, const blas::matrix& j) {
    blas::swap_rows(j, pivots.data(), k.columns);
    const blas::matrix upper = j.from(0, 0, k.columns, j.columns);
    blas::trsm_left(k, upper);
    const int left = k.rows - k.columns;
    if (left > 0) {
        blas::gemm('N', 'N', -1, k.from(k.columns, 0, left, k.columns), upper, 1,
                   j.from(k.columns, 0, left, j.columns));
    }
}

/// The names and ranks of the tasks.
struct kinds {
    explicit kinds(bool has_ranks) {
        fact.rank = has_ranks ? 2 : 0;
        urgent_update.rank = has_ranks ? 1 : 0;
    }
    const quern::task_attributes& of_update(bool is_next) const {
        return is_next ? urgent_update : update;
    }

    quern::task_attributes fact{.name = "fact"};
    quern::task_attributes urgent_update{.name = "urgent_update"};
    quern::task_attributes update{.name = "update"};
    quern::task_attributes swap{.name = "swap"};
};

/// The tasks that update read panel k where it is.
struct in_place {
    panels& a;

    void spawn_step(quern::domain& work, const kinds& kind, std::size_t k) {
        using quern::in;
        using quern::inout;
        using quern::out;
        work.spawn(kind.fact, inout(a.numbers.tile(0, k)), out(a.pivots_of(k)), [&a = a, k] {
            factorise(a.below(k, k), a.pivots_of(k).data(), a.numbers.first_column(k));
        });
        for (std::size_t j = k + 1; j < a.count(); ++j) {
            work.spawn(kind.of_update(j == k + 1), in(a.numbers.tile(0, k)), in(a.pivots_of(k)),
                       inout(a.numbers.tile(0, j)),
                       [&a = a, k, j] { update(a.below(k, k), a.pivots_of(k), a.below(k, j)); });
        }
    }
};

/// They read a copy of its part below the diagonal in a buffer that all steps use. `Buffer`: a
/// std::vector<double>, then the next step waits for them; or a quern::renamed of one, which then
/// gives the next step another version.
template <class Buffer>
struct by_copy {
    panels& a;
    Buffer& buffer;

    /// Of that part of a panel.
    static blas::matrix copy_of(const blas::matrix& panel, const double* at) {
        return {const_cast<double*>(at), panel.rows, panel.columns, panel.rows};  // read only
    }

    void spawn_step(quern::domain& work, const kinds& kind, std::size_t k) {
        using quern::in;
        using quern::inout;
        using quern::out;
        work.spawn(kind.fact, inout(a.numbers.tile(0, k)), out(a.pivots_of(k)), out(buffer),
                   [&a = a, k](auto, auto pivots, std::span<double> copy) {
                       const blas::matrix panel = a.below(k, k);
                       factorise(panel, pivots.data(), a.numbers.first_column(k));
                       for (int c = 0; c < panel.columns; ++c) {
                           std::copy_n(&panel(0, c), panel.rows,
                                       copy.data() + std::ptrdiff_t{c} * panel.rows);
                       }
                   });
        for (std::size_t j = k + 1; j < a.count(); ++j) {
            work.spawn(kind.of_update(j == k + 1), in(buffer), in(a.pivots_of(k)),
                       inout(a.numbers.tile(0, j)),
                       [&a = a, k, j](std::span<const double> copy, auto pivots, auto) {
                           update(copy_of(a.below(k, k), copy.data()), pivots, a.below(k, j));
                       });
        }
    }
};

/// The exchanges of later steps, in the panels to their left, which are L.
inline void spawn_swaps(quern::domain& work, panels& a, const kinds& kind) {
    for (std::size_t j = 0; j + 1 < a.count(); ++j) {
        const std::span<const int> later =
            std::span(a.pivots).subspan(a.numbers.first_column(j + 1));
        work.spawn(kind.swap, quern::in(later), quern::inout(a.numbers.tile(0, j)), [&a, j] {
            for (std::size_t k = j + 1; k < a.count(); ++k) {
                const std::span<const int> pivots = a.pivots_of(k);
                blas::swap_rows(a.below(k, j), pivots.data(), static_cast<int>(pivots.size()));
            }
        });
    }
}

template <class Readers>
void factorise(panels& a, const kinds& kind, Readers readers) {
    quern::domain work;
    for (std::size_t k = 0; k < a.count(); ++k) {
        readers.spawn_step(work, kind, k);
    }
    spawn_swaps(work, a, kind);
    work.taskwait();
}

/// Where the tasks that update read a factorised panel.
enum class panel_place { in_place, buffer, renamed };

inline void factorise(panels& a, const kinds& kind, panel_place place) {
    if (place == panel_place::in_place) {
        factorise(a, kind, in_place{a});
        return;
    }
    std::vector<double> buffer(a.numbers.tile(0, 0).size());
    if (place == panel_place::buffer) {
        factorise(a, kind, by_copy<std::vector<double>>{a, buffer});
    } else {
        quern::renamed versions(buffer);
        factorise(a, kind, by_copy<quern::renamed<std::vector<double>>>{a, versions});
    }
}

inline std::size_t tasks_for(std::size_t panels) { return panels * (panels + 1) / 2 + panels - 1; }

}  // namespace lu
