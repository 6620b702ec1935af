// SPDX-License-Identifier: BSL-1.0
// The steps by plain calls: a loop over all strips between exchanges, serial or parallel.
#pragma once

#include "parts.hpp"

#include <quern/algorithms/parallel_for.hpp>

#include <mpi.h>
#include <cstddef>
#include <span>
#include <vector>

namespace nas_bt {

/// loop(n, f) calls f(0) to f(n - 1), in any order or at the same time.
template <class Loop>
class plain_calls {
public:
    plain_calls(parts& p, const Loop& loop) : m_p(p), m_loop(loop) {}

    void run() {
        for (int step = 0; step < m_p.all().kind().steps; ++step) {
            m_loop(m_p.cells() * m_p.strips(), [this](std::size_t i) {
                m_p.find_rhs_of_strip(i / m_p.strips(), i % m_p.strips());
            });
            for (std::size_t d = 0; d < 3; ++d) {
                sweep(d);
            }
            exchange_layers();
        }
    }

private:
    void sweep(std::size_t d) {
        const std::size_t layers = m_p.cells();
        if (layers == 1) {
            m_loop(m_p.strips(), [this, d](std::size_t s) { m_p.solve_strip(0, d, s); });
            return;
        }
        for (std::size_t layer = 0; layer < layers; ++layer) {
            forward(m_p.all().in_layer(d, layer), d);
        }
        for (std::size_t layer = layers; layer-- > 0;) {
            backward(m_p.all().in_layer(d, layer), d);
        }
        wait_for_all();
    }

    void forward(std::size_t c, std::size_t d) {
        side& before = m_p.side_of(c, d, false);
        side& after = m_p.side_of(c, d, true);
        receive(before, std::span(before.forward));
        m_loop(m_p.strips(), [&](std::size_t s) { m_p.eliminate_strip(c, d, s); });
        send(after, std::span(after.forward));
    }

    void backward(std::size_t c, std::size_t d) {
        side& before = m_p.side_of(c, d, false);
        side& after = m_p.side_of(c, d, true);
        receive(after, std::span(after.backward));
        m_loop(m_p.strips(), [&](std::size_t s) { m_p.substitute_strip(c, d, s); });
        send(before, std::span(before.backward));
    }

    /// Nothing where there is no neighbour.
    template <class T>
    static void receive(const side& from, std::span<T> what) {
        MPI_Recv(what.data(), numbers_in(what), MPI_DOUBLE, from.peer, from.receive_tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    template <class T>
    void send(const side& to, std::span<T> what) {
        MPI_Isend(what.data(), numbers_in(what), MPI_DOUBLE, to.peer, to.send_tag, MPI_COMM_WORLD,
                  &m_requests.emplace_back());
    }
    void wait_for_all() {
        MPI_Waitall(static_cast<int>(m_requests.size()), m_requests.data(), MPI_STATUSES_IGNORE);
        m_requests.clear();
    }

    void exchange_layers() {
        for (side& s : m_p.sides()) {
            m_p.pack(s);
            MPI_Irecv(s.received_layers.data(), numbers_in(std::span(s.received_layers)),
                      MPI_DOUBLE, s.peer, s.receive_tag, MPI_COMM_WORLD,
                      &m_requests.emplace_back());
            send(s, std::span(s.sent_layers));
        }
        wait_for_all();
        for (const side& s : m_p.sides()) {
            m_p.unpack(s);
        }
    }

    parts& m_p;
    Loop m_loop;
    std::vector<MPI_Request> m_requests;
};

inline void by_plain_calls(parts& p) {
    plain_calls(p, [](std::size_t n, const auto& f) {
        for (std::size_t i = 0; i < n; ++i) {
            f(i);
        }
    }).run();
}

/// The calling thread, which is no worker, exchanges.
inline void by_fork_join(parts& p) {
    plain_calls(p, [](std::size_t n, const auto& f) {
        quern::parallel_for(std::size_t{0}, n, quern::grain::fixed(1), f);
    }).run();
}

}  // namespace nas_bt
