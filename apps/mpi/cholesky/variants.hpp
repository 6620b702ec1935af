// SPDX-License-Identifier: BSL-1.0
// The factorisation: by plain calls, with broadcasts in rows and columns of the grid of ranks; and
// by tasks ordered by their data, in which the owner of a tile sends it to each rank that reads it.
#pragma once

#include "../common/messages.hpp"
#include "matrix.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace cholesky {

/// One step after the other.
class plain_calls {
public:
    explicit plain_calls(matrix& a)
        : m_a(a),
          m_lines(a.grid()),
          m_inverse(a.tile_size()),
          m_column(a.count(), tile_numbers(a.tile_size())) {}

    void run() {
        for (std::size_t k = 0; k < m_a.count(); ++k) {
            factorise_column(k);
            for (std::size_t i = k + 1; i < m_a.count(); ++i) {
                share_tile(i, k);
            }
            for (std::size_t j = k + 1; j < m_a.count(); ++j) {
                for (std::size_t i = j; i < m_a.count(); ++i) {
                    if (m_a.is_mine(i, j)) {
                        m_a.update(i, j, k, m_column[i].data(), m_column[j].data());
                    }
                }
            }
        }
    }

private:
    void factorise_column(std::size_t k) {
        if (m_a.grid().my_column() != m_a.grid().column_of(k)) {
            return;
        }
        if (m_a.is_mine(k, k)) {
            m_a.potrf(k, m_inverse.data());
        }
        MPI_Bcast(m_inverse.data(), m_a.size_of(k, k), MPI_DOUBLE, m_a.grid().row_of(k),
                  m_lines.column());
        for (std::size_t i = k + 1; i < m_a.count(); ++i) {
            if (m_a.is_mine(i, k)) {
                m_a.trsm(i, k, m_inverse.data());
                m_column[i] = m_a.tile(i, k);
            }
        }
    }

    /// Along the row of ranks of the tile, and from where that crosses the column of ranks of the
    /// tiles (., i), along this.
    void share_tile(std::size_t i, std::size_t k) {
        m_column[i].resize(m_a.tile_size());
        const int size = m_a.size_of(i, k);
        if (m_a.grid().my_row() == m_a.grid().row_of(i)) {
            MPI_Bcast(m_column[i].data(), size, MPI_DOUBLE, m_a.grid().column_of(k), m_lines.row());
        }
        if (m_a.grid().my_column() == m_a.grid().column_of(i)) {
            MPI_Bcast(m_column[i].data(), size, MPI_DOUBLE, m_a.grid().row_of(i), m_lines.column());
        }
    }

    matrix& m_a;
    apps::mpi::rank_lines m_lines;
    tile_numbers m_inverse;
    std::vector<tile_numbers> m_column;  ///< of L, in a step
};

/// The tasks of all steps. Tiles of other ranks come into buffers, one for each row of tiles, which
/// are renamed: a step gets another version while tasks still read.
class task_maker {
public:
    explicit task_maker(matrix& a) : m_a(a), m_inverse(tile_numbers(a.tile_size())) {
        for (std::size_t i = 0; i < a.count(); ++i) {
            m_column.emplace_back(tile_numbers(a.tile_size()));
        }
    }

    void run() {
        for (std::size_t k = 0; k < m_a.count(); ++k) {
            factorise_column(k);
            for (std::size_t i = k + 1; i < m_a.count(); ++i) {
                share_tile(i, k);
            }
            for (std::size_t j = k + 1; j < m_a.count(); ++j) {
                for (std::size_t i = j; i < m_a.count(); ++i) {
                    if (m_a.is_mine(i, j)) {
                        update(i, j, k);
                    }
                }
            }
        }
        m_work.taskwait();
    }

private:
    /// Those on the way to the next diagonal tile have the larger ranks.
    std::int16_t rank(std::size_t k, int within) const {
        constexpr std::size_t k_most = std::numeric_limits<std::int16_t>::max() / 2;
        return static_cast<std::int16_t>(static_cast<int>(std::min(m_a.count() - k, k_most)) +
                                         within);
    }

    void factorise_column(std::size_t k) {
        const std::set<int> readers = m_a.readers_of_diagonal(k);
        if (m_a.is_mine(k, k)) {
            m_work.spawn({.name = "potrf", .rank = rank(k, 4)}, quern::inout(m_a.tile(k, k)),
                         quern::out(m_inverse),
                         [&a = m_a, k](auto, auto inverse) { a.potrf(k, inverse.data()); });
            send_all(m_inverse, k, k, readers);
        } else if (readers.contains(my_rank())) {
            receive(m_inverse, k, k);
        }
        for (std::size_t i = k + 1; i < m_a.count(); ++i) {
            if (m_a.is_mine(i, k)) {
                m_work.spawn({.name = "trsm", .rank = rank(k, 2)}, quern::in(m_inverse),
                             quern::inout(m_a.tile(i, k)), [&a = m_a, i, k](auto inverse, auto) {
                                 a.trsm(i, k, inverse.data());
                             });
            }
        }
    }

    void share_tile(std::size_t i, std::size_t k) {
        const std::set<int> readers = m_a.readers(i, k);
        if (m_a.is_mine(i, k)) {
            send_all(m_a.tile(i, k), i, k, readers);
        } else if (readers.contains(my_rank())) {
            receive(m_column[i], i, k);
        }
    }

    template <class Buffer>
    void send_all(Buffer& from, std::size_t i, std::size_t k, const std::set<int>& readers) {
        for (const int reader : readers) {
            m_work.spawn(
                {.name = "send", .rank = rank(k, 3), .communication = true}, quern::in(from),
                [reader, size = m_a.size_of(i, k), tag = m_a.tag(i, k), one = apps::mpi::message()](
                    auto tile) mutable { one.send(tile.data(), size, reader, tag); });
        }
    }

    void receive(quern::renamed<tile_numbers>& to, std::size_t i, std::size_t k) {
        m_work.spawn({.name = "receive", .rank = rank(k, 3), .communication = true}, quern::out(to),
                     [owner = m_a.grid().owner(i, k), size = m_a.size_of(i, k), tag = m_a.tag(i, k),
                      one = apps::mpi::message()](auto tile) mutable {
                         one.receive(tile.data(), size, owner, tag);
                     });
    }

    /// f(access to tile (i, k) of L, which is here or was received)
    template <class F>
    void with_tile(std::size_t i, std::size_t k, const F& f) {
        if (m_a.is_mine(i, k)) {
            f(quern::in(m_a.tile(i, k)));
        } else {
            f(quern::in(m_column[i]));
        }
    }

    void update(std::size_t i, std::size_t j, std::size_t k) {
        with_tile(i, k, [&](const auto& ik) {
            if (i == j) {
                m_work.spawn({.name = "syrk", .rank = rank(k, 1)}, ik, quern::inout(m_a.tile(i, i)),
                             [&a = m_a, i, k](auto tile, auto) {
                                 a.update(i, i, k, tile.data(), tile.data());
                             });
                return;
            }
            with_tile(j, k, [&](const auto& jk) {
                m_work.spawn({.name = "gemm", .rank = rank(k, 0)}, ik, jk,
                             quern::inout(m_a.tile(i, j)),
                             [&a = m_a, i, j, k](auto left, auto right, auto) {
                                 a.update(i, j, k, left.data(), right.data());
                             });
            });
        });
    }

    int my_rank() const {
        return m_a.grid().my_row() * m_a.grid().columns() + m_a.grid().my_column();
    }

    matrix& m_a;
    quern::renamed<tile_numbers> m_inverse;
    std::deque<quern::renamed<tile_numbers>> m_column;
    quern::domain m_work;
};

}  // namespace cholesky
