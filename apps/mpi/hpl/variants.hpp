// SPDX-License-Identifier: BSL-1.0
// The factorisation: by plain calls, without and with look-ahead, by parallel loops between calls,
// and by tasks ordered by their data. Source of the tasks: the HPL of the thesis on OmpSs, 6.1.4
// and 6.2.1.
#pragma once

#include "../common/messages.hpp"
#include "steps.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hpl {

/// The columns of blocks of this rank after column k.
template <class F>
void for_each_right_of(const matrix& a, std::size_t k, const F& f) {
    for (std::size_t j = k + 1; j <= a.count(); ++j) {
        if (a.has_column(j)) {
            f(j);
        }
    }
}

/// Each step factorises, broadcasts, and updates all, one after the other.
inline void by_plain_calls(steps& s) {
    const matrix& a = s.a();
    std::vector<double> message(a.largest_message());
    for (std::size_t k = 0; k < a.count(); ++k) {
        if (a.has_column(k)) {
            s.factorise(k, message);
        }
        MPI_Bcast(message.data(), static_cast<int>(a.message_size(k)), MPI_DOUBLE,
                  a.grid().column_of(k), s.row());
        for_each_right_of(a, k, [&](std::size_t j) { s.update(k, message, j); });
    }
}

/// Parallel loops over the columns of an update; the calling thread factorises and broadcasts. On
/// several rows of ranks an update is a task that exchanges rows.
inline void by_fork_join(steps& s) {
    const matrix& a = s.a();
    std::vector<double> message(a.largest_message());
    for (std::size_t k = 0; k < a.count(); ++k) {
        if (a.has_column(k)) {
            s.factorise(k, message);
        }
        MPI_Bcast(message.data(), static_cast<int>(a.message_size(k)), MPI_DOUBLE,
                  a.grid().column_of(k), s.row());
        std::vector<std::size_t> columns;
        for_each_right_of(a, k, [&](std::size_t j) { columns.push_back(j); });
        quern::parallel_for(std::size_t{0}, columns.size(), quern::grain::fixed(1),
                            [&](std::size_t i) { s.update(k, message, columns[i]); });
    }
}

/// Only the broadcasts.
inline void by_messages_alone(steps& s) {
    const matrix& a = s.a();
    std::vector<double> message(a.largest_message());
    for (std::size_t k = 0; k < a.count(); ++k) {
        MPI_Bcast(message.data(), static_cast<int>(a.message_size(k)), MPI_DOUBLE,
                  a.grid().column_of(k), s.row());
    }
}

/// The owners of the next column update that first and factorise it. The broadcast continues during
/// the other updates, between which MPI_Test drives it.
inline void by_plain_look_ahead(steps& s) {
    const matrix& a = s.a();
    std::vector<double> now(a.largest_message());
    std::vector<double> next(a.largest_message());
    const auto begin = [&s, &a](std::size_t k, std::vector<double>& message) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (a.has_column(k)) {
            s.factorise(k, message);
        }
        MPI_Ibcast(message.data(), static_cast<int>(a.message_size(k)), MPI_DOUBLE,
                   a.grid().column_of(k), s.row(), &request);
        return request;
    };
    MPI_Request request = begin(0, now);
    for (std::size_t k = 0; k < a.count(); ++k) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        const bool has_next = k + 1 < a.count();
        if (has_next && a.has_column(k + 1)) {
            s.update(k, now, k + 1);
        }
        if (has_next) {
            request = begin(k + 1, next);
        }
        for_each_right_of(a, k, [&](std::size_t j) {
            if (!has_next || j > k + 1) {
                s.update(k, now, j);
                int has_ended = 0;
                MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
            }
        });
        std::swap(now, next);
    }
}

/// The tasks of all steps. A factorised column goes round its row of ranks from the owner to the
/// last one before it. The buffer of the messages is renamed: a step gets another version while
/// tasks still read. Tasks on the way to the next column have the larger ranks, so look-ahead needs
/// no code. On several rows of ranks the tasks exchange rows within their column of ranks.
class task_maker {
public:
    explicit task_maker(steps& s)
        : m_s(s), m_a(s.a()), m_message(m_a.largest_message()), m_buffer(m_message) {}

    void run() {
        for (std::size_t k = 0; k < m_a.count(); ++k) {
            if (m_a.has_column(k)) {
                m_work.spawn({.name = "fact", .rank = 3}, quern::inout(m_a.numbers(k)),
                             quern::out(m_buffer),
                             [&s = m_s, k](auto, auto message) { s.factorise(k, message); });
            } else {
                receive(k);
            }
            send(k);
            for_each_right_of(m_a, k, [&](std::size_t j) { update(k, j); });
        }
        m_work.taskwait();
    }

private:
    int neighbour(int distance) const {
        const int columns = m_a.grid().columns();
        return (m_a.grid().my_column() + distance + columns) % columns;
    }

    void receive(std::size_t k) {
        const int size = static_cast<int>(m_a.message_size(k));
        m_work.spawn({.name = "receive", .rank = 3, .communication = true}, quern::out(m_buffer),
                     [size, from = neighbour(-1), tag = static_cast<int>(k), row = m_s.row(),
                      one = apps::mpi::message()](auto message) mutable {
                         one.receive(message.data(), size, from, tag, row);
                     });
    }

    void send(std::size_t k) {
        const int to = neighbour(1);
        if (to == m_a.grid().column_of(k)) {
            return;
        }
        const int size = static_cast<int>(m_a.message_size(k));
        m_work.spawn(
            {.name = "send", .rank = 3, .communication = true}, quern::in(m_buffer),
            [size, to, tag = static_cast<int>(k), row = m_s.row(), one = apps::mpi::message()](
                auto message) mutable { one.send(message.data(), size, to, tag, row); });
    }

    void update(std::size_t k, std::size_t j) {
        const bool is_next = j == k + 1;
        m_work.spawn({.name = is_next ? "urgent_update" : "update",
                      .rank = static_cast<std::int16_t>(is_next ? 2 : 0)},
                     quern::in(m_buffer), quern::inout(m_a.numbers(j)),
                     [&s = m_s, k, j](auto message, auto) { s.update(k, message, j); });
    }

    steps& m_s;
    matrix& m_a;
    std::vector<double> m_message;
    quern::renamed<std::vector<double>> m_buffer;
    quern::domain m_work;
};

inline void by_tasks(steps& s) { task_maker(s).run(); }

}  // namespace hpl
