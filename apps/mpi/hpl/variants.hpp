// SPDX-License-Identifier: BSL-1.0
// The factorisation: by plain calls, without and with look-ahead, and by tasks ordered by their
// data. Source of the tasks: the HPL of the thesis on OmpSs, 6.1.4 and 6.2.1.
#pragma once

#include "panels.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hpl {

/// The panels of this rank after panel k.
template <class F>
void for_each_right_of(panels& a, std::size_t k, const F& f) {
    for (std::size_t j = k + 1; j <= a.count(); ++j) {
        if (a.is_mine(j)) {
            f(j);
        }
    }
}

/// Each step factorises, broadcasts, and updates all, one after the other.
inline void by_plain_calls(panels& a) {
    std::vector<double> message(a.largest_message());
    for (std::size_t k = 0; k < a.count(); ++k) {
        if (a.is_mine(k)) {
            a.factorise(k, message);
        }
        MPI_Bcast(message.data(), static_cast<int>(a.message_size(k)), MPI_DOUBLE, a.owner(k),
                  MPI_COMM_WORLD);
        for_each_right_of(a, k, [&](std::size_t j) { a.update(k, message, j); });
    }
}

/// The owner of the next panel updates that first and factorises it. The broadcast continues during
/// the other updates, between which MPI_Test drives it.
inline void by_plain_look_ahead(panels& a) {
    std::vector<double> now(a.largest_message());
    std::vector<double> next(a.largest_message());
    const auto begin = [&a](std::size_t k, std::vector<double>& message) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (a.is_mine(k)) {
            a.factorise(k, message);
        }
        MPI_Ibcast(message.data(), static_cast<int>(a.message_size(k)), MPI_DOUBLE, a.owner(k),
                   MPI_COMM_WORLD, &request);
        return request;
    };
    MPI_Request request = begin(0, now);
    for (std::size_t k = 0; k < a.count(); ++k) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        const bool has_next = k + 1 < a.count();
        if (has_next && a.is_mine(k + 1)) {
            a.update(k, now, k + 1);
        }
        if (has_next) {
            request = begin(k + 1, next);
        }
        for_each_right_of(a, k, [&](std::size_t j) {
            if (!has_next || j > k + 1) {
                a.update(k, now, j);
                int has_ended = 0;
                MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
            }
        });
        std::swap(now, next);
    }
}

/// The tasks of all steps. Panels go round the ranks from the owner to the last one before it. The
/// buffer of the messages is renamed: a step gets another version while tasks still read. Those on
/// the way to the next panel have the larger ranks, so look-ahead needs no code.
class task_maker {
public:
    explicit task_maker(panels& a) : m_a(a), m_message(a.largest_message()), m_buffer(m_message) {}

    void run() {
        for (std::size_t k = 0; k < m_a.count(); ++k) {
            if (m_a.is_mine(k)) {
                m_work.spawn({.name = "fact", .rank = 3}, quern::inout(m_a.numbers(k)),
                             quern::out(m_buffer),
                             [&a = m_a, k](auto, auto message) { a.factorise(k, message); });
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
        return (m_a.at().rank + distance + m_a.at().ranks) % m_a.at().ranks;
    }

    void receive(std::size_t k) {
        const int size = static_cast<int>(m_a.message_size(k));
        m_work.spawn({.name = "receive", .rank = 3}, quern::out(m_buffer),
                     [size, from = neighbour(-1), tag = static_cast<int>(k)](auto message) {
                         MPI_Recv(message.data(), size, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE);
                     });
    }

    void send(std::size_t k) {
        const int to = neighbour(1);
        if (to == m_a.owner(k)) {
            return;
        }
        const int size = static_cast<int>(m_a.message_size(k));
        m_work.spawn({.name = "send", .rank = 3}, quern::in(m_buffer),
                     [size, to, tag = static_cast<int>(k)](auto message) {
                         MPI_Send(message.data(), size, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
                     });
    }

    void update(std::size_t k, std::size_t j) {
        const bool is_next = j == k + 1;
        m_work.spawn({.name = is_next ? "urgent_update" : "update",
                      .rank = static_cast<std::int16_t>(is_next ? 2 : 0)},
                     quern::in(m_buffer), quern::inout(m_a.numbers(j)),
                     [&a = m_a, k, j](auto message, auto) { a.update(k, message, j); });
    }

    panels& m_a;
    std::vector<double> m_message;
    quern::renamed<std::vector<double>> m_buffer;
    quern::domain m_work;
};

inline void by_tasks(panels& a) { task_maker(a).run(); }

}  // namespace hpl
