// SPDX-License-Identifier: BSL-1.0
// A grid of ranks, over which the tiles of a matrix are dealt out in turns in both directions: the
// two-dimensional block-cyclic distribution of ScaLAPACK.
#pragma once

#include "ranks.hpp"

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace apps::mpi {

/// Rank r is in row r / columns and column r % columns.
class rank_grid {
public:
    /// As square as possible, with more columns than rows.
    explicit rank_grid(const place& at) : m_at(at), m_columns(at.ranks) {
        for (int rows = 1; rows * rows <= at.ranks; ++rows) {
            if (at.ranks % rows == 0) {
                m_rows = rows;
                m_columns = at.ranks / rows;
            }
        }
    }

    /// "2x3". Throws usage_error unless it has as many ranks as there are.
    rank_grid(std::string_view text, const place& at) : m_at(at) {
        const char* const end = text.data() + text.size();
        const auto [times, first] = std::from_chars(text.data(), end, m_rows);
        const bool has_times = first == std::errc{} && times != end && *times == 'x';
        const auto [last, second] = std::from_chars(has_times ? times + 1 : end, end, m_columns);
        if (!has_times || second != std::errc{} || last != end || m_rows < 1 || m_columns < 1 ||
            m_rows > at.ranks || m_columns != at.ranks / m_rows || at.ranks % m_rows != 0) {
            throw usage_error(fmt::format(
                "--grid is '{}'; accepted on {} rank{}: PxQ with P times Q = {}, as {}", text,
                at.ranks, at.ranks == 1 ? "" : "s", at.ranks, rank_grid(at).name()));
        }
    }

    std::string name() const { return fmt::format("{}x{}", m_rows, m_columns); }
    int ranks() const { return m_at.ranks; }
    int rows() const { return m_rows; }
    int columns() const { return m_columns; }
    int my_row() const { return m_at.rank / m_columns; }
    int my_column() const { return m_at.rank % m_columns; }
    /// In the grid, of the tiles in row i or column j.
    int row_of(std::size_t i) const {
        return static_cast<int>(i % static_cast<std::size_t>(m_rows));
    }
    int column_of(std::size_t j) const {
        return static_cast<int>(j % static_cast<std::size_t>(m_columns));
    }
    int owner(std::size_t i, std::size_t j) const { return row_of(i) * m_columns + column_of(j); }
    bool is_mine(std::size_t i, std::size_t j) const { return owner(i, j) == m_at.rank; }

private:
    place m_at;
    int m_rows = 1;
    int m_columns = 1;
};

/// The ranks in this one's row and column of a grid, while it lives: their ranks are their columns
/// and rows. Made and destroyed by all.
class rank_lines {
public:
    explicit rank_lines(const rank_grid& of) {
        MPI_Comm_split(MPI_COMM_WORLD, of.my_row(), of.my_column(), &m_row);
        MPI_Comm_split(MPI_COMM_WORLD, of.my_column(), of.my_row(), &m_column);
    }
    ~rank_lines() {
        MPI_Comm_free(&m_row);
        MPI_Comm_free(&m_column);
    }
    rank_lines(const rank_lines&) = delete;
    rank_lines& operator=(const rank_lines&) = delete;

    MPI_Comm row() const { return m_row; }
    MPI_Comm column() const { return m_column; }

private:
    MPI_Comm m_row = MPI_COMM_NULL;
    MPI_Comm m_column = MPI_COMM_NULL;
};

}  // namespace apps::mpi
