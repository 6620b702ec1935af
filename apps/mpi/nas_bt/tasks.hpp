// SPDX-License-Identifier: BSL-1.0
// The steps as tasks ordered by their data, of which some send and receive. A sweep runs through a
// cell strip by strip, and a strip's message leaves when it is computed, so sweeps of several
// strips and directions overlap, as far as the data allow.
#pragma once

#include "../common/messages.hpp"
#include "parts.hpp"

#include <quern/dependences/access_list.hpp>
#include <quern/dependences/domain.hpp>

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nas_bt {

using apps::mpi::message;

/// The strips of the right-hand side and of the sweeps along x and y are slabs, one above the other
/// in z; those of the sweep along z are walls, one behind the other in y, which cross all slabs.
/// Their order is that of sentinels: a byte for each slab, wall, and halo at a side. Messages of a
/// sweep are ordered by their buffers.
class task_maker {
public:
    explicit task_maker(parts& p)
        : m_p(p),
          m_slabs(p.cells() * p.strips()),
          m_walls(p.cells() * p.strips()),
          m_halos(p.sides().size()) {}

    void run() {
        for (int step = 0; step < m_p.all().kind().steps; ++step) {
            for_each_strip([this](std::size_t c, std::size_t s) { find_rhs_of(c, s); });
            for (std::size_t d = 0; d < 3; ++d) {
                sweep(d);
            }
            exchange_layers();
        }
        m_work.taskwait();
    }

private:
    // Messages come before sweeps, and those before right-hand sides, which wait for no other rank.
    static constexpr std::int16_t k_sweep_rank = 1;
    static constexpr std::int16_t k_message_rank = 2;

    template <class F>
    void for_each_strip(const F& f) {
        for (std::size_t c = 0; c < m_p.cells(); ++c) {
            for (std::size_t s = 0; s < m_p.strips(); ++s) {
                f(c, s);
            }
        }
    }

    auto slab(std::size_t c, std::size_t s) {
        return quern::sentinel(m_slabs[c * m_p.strips() + s]);
    }
    auto wall(std::size_t c, std::size_t s) {
        return quern::sentinel(m_walls[c * m_p.strips() + s]);
    }
    auto halo(std::size_t c, std::size_t d, bool is_after) {
        return quern::sentinel(m_halos[parts::number_of(c, d, is_after)]);
    }

    /// Whether a strip has points of the two layers at a side.
    bool is_near(std::size_t c, std::size_t d, bool is_after, const range& planes) {
        return is_after ? planes.last > m_p.at(c).size(d) - k_halo : planes.first < k_halo;
    }

    void find_rhs_of(std::size_t c, std::size_t s) {
        m_accesses.clear();
        for (std::size_t other = 0; other < m_p.strips(); ++other) {
            m_accesses.add(quern::in(wall(c, other)));
        }
        for (const bool is_after : {false, true}) {
            m_accesses.add(quern::in(halo(c, 0, is_after)));
            m_accesses.add(quern::in(halo(c, 1, is_after)));
            if (is_near(c, 2, is_after, m_p.planes(c, 0, s))) {
                m_accesses.add(quern::in(halo(c, 2, is_after)));
            }
        }
        m_work.spawn({.name = "rhs"}, m_accesses, quern::out(slab(c, s)),
                     [&p = m_p, c, s] { p.find_rhs_of_strip(c, s); });
    }

    void sweep(std::size_t d) {
        const std::size_t layers = m_p.cells();
        for (std::size_t s = 0; layers == 1 && s < m_p.strips(); ++s) {
            begin_strip(0, d, s);
            m_work.spawn({.name = "solve", .rank = k_sweep_rank}, m_accesses,
                         [&p = m_p, d, s] { p.solve_strip(0, d, s); });
        }
        for (std::size_t layer = 0; layers > 1 && layer < layers; ++layer) {
            for (std::size_t s = 0; s < m_p.strips(); ++s) {
                forward(m_p.all().in_layer(d, layer), d, s);
            }
        }
        for (std::size_t layer = layers; layers > 1 && layer-- > 0;) {
            for (std::size_t s = 0; s < m_p.strips(); ++s) {
                backward(m_p.all().in_layer(d, layer), d, s);
            }
        }
    }

    /// The accesses of the first task of a sweep in a strip.
    void begin_strip(std::size_t c, std::size_t d, std::size_t s) {
        m_accesses.clear();
        m_accesses.add(quern::in(halo(c, d, false)));
        m_accesses.add(quern::in(halo(c, d, true)));
        if (d < 2) {
            m_accesses.add(quern::inout(slab(c, s)));
            return;
        }
        m_accesses.add(quern::inout(wall(c, s)));
        for (std::size_t other = 0; other < m_p.strips(); ++other) {
            m_accesses.add(quern::in(slab(c, other)));
        }
    }

    void forward(std::size_t c, std::size_t d, std::size_t s) {
        side& before = m_p.side_of(c, d, false);
        side& after = m_p.side_of(c, d, true);
        const auto arriving = m_p.strip_of(before.forward, c, d, s);
        const auto leaving = m_p.strip_of(after.forward, c, d, s);
        receive(before, arriving, s);
        begin_strip(c, d, s);
        m_work.spawn({.name = "eliminate", .rank = k_sweep_rank}, m_accesses, quern::in(arriving),
                     quern::out(leaving),
                     [&p = m_p, c, d, s](auto, auto) { p.eliminate_strip(c, d, s); });
        send(after, leaving, s);
    }

    void backward(std::size_t c, std::size_t d, std::size_t s) {
        side& before = m_p.side_of(c, d, false);
        side& after = m_p.side_of(c, d, true);
        const auto arriving = m_p.strip_of(after.backward, c, d, s);
        const auto leaving = m_p.strip_of(before.backward, c, d, s);
        receive(after, arriving, s);
        m_work.spawn({.name = "substitute", .rank = k_sweep_rank}, quern::in(arriving),
                     quern::out(leaving), quern::inout(d < 2 ? slab(c, s) : wall(c, s)),
                     [&p = m_p, c, d, s](auto, auto) { p.substitute_strip(c, d, s); });
        send(before, leaving, s);
    }

    // Nothing where there is no neighbour. The tag of a side is that of its layers, then of strips.

    template <class T>
    void receive(const side& from, std::span<T> what, std::size_t s) {
        if (!from.has_peer()) {
            return;
        }
        const int tag = from.receive_tag + 1 + static_cast<int>(s);
        m_work.spawn(
            {.name = "receive", .rank = k_message_rank, .communication = true}, quern::out(what),
            [peer = from.peer, tag, one = message()](std::span<T> into) mutable {
                one.receive(reinterpret_cast<double*>(into.data()), numbers_in(into), peer, tag);
            });
    }
    template <class T>
    void send(const side& to, std::span<T> what, std::size_t s) {
        if (!to.has_peer()) {
            return;
        }
        const int tag = to.send_tag + 1 + static_cast<int>(s);
        m_work.spawn(
            {.name = "send", .rank = k_message_rank, .communication = true}, quern::in(what),
            [peer = to.peer, tag, one = message()](std::span<const T> from) mutable {
                one.send(reinterpret_cast<const double*>(from.data()), numbers_in(from), peer, tag);
            });
    }

    void exchange_layers() {
        for (side& s : m_p.sides()) {
            if (s.has_peer()) {
                send_layers(s);
                receive_layers(s);
            }
        }
    }

    void send_layers(side& of) {
        m_accesses.clear();
        for (std::size_t s = 0; s < m_p.strips(); ++s) {
            if (of.d != 1 || is_near(of.cell, 1, of.is_after, m_p.planes(of.cell, 2, s))) {
                m_accesses.add(quern::in(wall(of.cell, s)));
            }
        }
        m_work.spawn({.name = "send layers", .rank = k_message_rank}, m_accesses, [&p = m_p, &of] {
            p.pack(of);
            const std::span<double> all = of.sent_layers;
            MPI_Send(all.data(), numbers_in(all), MPI_DOUBLE, of.peer, of.send_tag, MPI_COMM_WORLD);
        });
    }

    void receive_layers(side& of) {
        m_work.spawn({.name = "receive layers", .rank = k_message_rank},
                     quern::out(halo(of.cell, of.d, of.is_after)), [&p = m_p, &of] {
                         const std::span<double> all = of.received_layers;
                         MPI_Recv(all.data(), numbers_in(all), MPI_DOUBLE, of.peer, of.receive_tag,
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                         p.unpack(of);
                     });
    }

    parts& m_p;
    std::vector<char> m_slabs;
    std::vector<char> m_walls;
    std::vector<char> m_halos;
    quern::access_list m_accesses;
    quern::domain m_work;
};

inline void by_tasks(parts& p) { task_maker(p).run(); }

}  // namespace nas_bt
