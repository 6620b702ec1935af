// SPDX-License-Identifier: BSL-1.0
// Ways to compute while a message goes from rank 0 to all others: C-CUBE's point-to-point
// hypercube with probes, a thread with MPI_Bcast, MPI_Ibcast with MPI_Test, and tasks.
#pragma once

#include "../common/ranks.hpp"
#include "kernels.hpp"

#include <quern/counters/counter.hpp>
#include <quern/dependences/domain.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace ccube {

/// The message of a run.
class message {
public:
    message(std::size_t bytes, const apps::mpi::place& at) : m_at(at), m_data(bytes) {}

    /// Rank 0 has numbers that no earlier run had.
    void reset() {
        ++m_run;
        for (std::size_t i = 0; i < m_data.size(); ++i) {
            m_data[i] = m_at.is_first() ? expected(i) : static_cast<unsigned char>(~expected(i));
        }
    }
    bool is_right() const {
        for (std::size_t i = 0; i < m_data.size(); ++i) {
            if (m_data[i] != expected(i)) {
                return false;
            }
        }
        return true;
    }
    const apps::mpi::place& at() const { return m_at; }
    void* data() { return m_data.data(); }
    int count() const { return static_cast<int>(m_data.size()); }

private:
    unsigned char expected(std::size_t i) const {
        return static_cast<unsigned char>(i * 31 + m_run * 17);
    }

    apps::mpi::place m_at;
    std::vector<unsigned char> m_data;
    std::size_t m_run = 0;
};

/// Of one rank, in seconds from the common beginning on.
struct times {
    double communicating = 0;  ///< until it had the message, and had passed it on
    double computing = 0;      ///< until the last step had ended
    double polls = 0;          ///< looks whether the message has come; until it had
};

inline void compute(kernel& k) {
    for (std::size_t i = 0; i < k_steps; ++i) {
        k.step(i);
    }
}

inline times computing_alone(kernel& k, message&) {
    const double begin = MPI_Wtime();
    compute(k);
    return {0, MPI_Wtime() - begin, 0};
}

inline times communicating_alone(kernel&, message& m) {
    const double begin = MPI_Wtime();
    MPI_Bcast(m.data(), m.count(), MPI_BYTE, 0, MPI_COMM_WORLD);
    return {MPI_Wtime() - begin, 0, 0};
}

/// A binomial tree, the hypercube's broadcast: rank r receives from r without its highest bit, and
/// sends to r with a higher bit set.
class hypercube {
public:
    explicit hypercube(message& m) : m_message(m) {}

    int parent() const {
        const int rank = m_message.at().rank;
        int highest = 1;
        while (highest * 2 <= rank) {
            highest *= 2;
        }
        return rank - highest;
    }
    /// In the order of the hypercube's steps.
    std::vector<int> children() const {
        const auto& at = m_message.at();
        std::vector<int> all;
        for (int bit = 1; bit < at.ranks; bit *= 2) {
            if (bit > at.rank && at.rank + bit < at.ranks) {
                all.push_back(at.rank + bit);
            }
        }
        return all;
    }
    bool has_come() const {
        if (m_message.at().is_first()) {
            return true;
        }
        int flag = 0;
        MPI_Iprobe(parent(), 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        return flag != 0;
    }
    void receive() {
        if (!m_message.at().is_first()) {
            MPI_Recv(m_message.data(), m_message.count(), MPI_BYTE, parent(), 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }
    void send(int child) {
        MPI_Send(m_message.data(), m_message.count(), MPI_BYTE, child, 0, MPI_COMM_WORLD);
    }
    void receive_and_send() {
        receive();
        for (const int child : children()) {
            send(child);
        }
    }

private:
    message& m_message;
};

/// A step, then a look: advance(is_last) is true when the message has come; with is_last it waits.
template <class Advance>
times in_turns(kernel& k, const Advance& advance) {
    times t;
    const double begin = MPI_Wtime();
    bool has_come = false;
    const auto look = [&](bool is_last) {
        if (!has_come) {
            ++t.polls;
            has_come = advance(is_last);
            t.communicating = MPI_Wtime() - begin;
        }
    };
    for (std::size_t i = 0; i < k_steps; ++i) {
        k.step(i);
        look(false);
    }
    t.computing = MPI_Wtime() - begin;
    look(true);
    return t;
}

inline times by_probes(kernel& k, message& m) {
    hypercube cube(m);
    return in_turns(k, [&cube](bool is_last) {
        const bool has_come = is_last || cube.has_come();
        if (has_come) {
            cube.receive_and_send();
        }
        return has_come;
    });
}

/// This thread computes, and calls no function of MPI meanwhile.
inline times by_thread(kernel& k, message& m) {
    times t;
    const double begin = MPI_Wtime();
    std::thread communicates([&] {
        MPI_Bcast(m.data(), m.count(), MPI_BYTE, 0, MPI_COMM_WORLD);
        t.communicating = MPI_Wtime() - begin;
    });
    compute(k);
    t.computing = MPI_Wtime() - begin;
    communicates.join();
    return t;
}

inline times by_ibcast(kernel& k, message& m) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(m.data(), m.count(), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    return in_turns(k, [&request](bool is_last) {
        int has_ended = 1;
        if (is_last) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
        }
        return has_ended != 0;
    });
}

/// As a task of a runtime: each step is a task, and so is what spawn_messages(domain, note) makes;
/// `note` is called when the message has come and has been passed on.
template <class SpawnMessages>
times by_tasks(kernel& k, const SpawnMessages& spawn_messages) {
    times t;
    quern::counters::counter_set looks;
    looks.add("/mpi/count/polls");
    const double begin = MPI_Wtime();
    quern::domain work;
    spawn_messages(work, [&t, &looks, begin] {
        t.polls = looks.evaluate().values.front().value;
        t.communicating = MPI_Wtime() - begin;
    });
    for (std::size_t i = 0; i < k_steps; ++i) {
        work.spawn({.name = "step"}, quern::inout(t.computing), [&k, i, begin](double& computing) {
            k.step(i);
            computing = MPI_Wtime() - begin;
        });
    }
    work.taskwait();
    return t;
}

inline times by_broadcast_task(kernel& k, message& m) {
    return by_tasks(k, [&m](quern::domain& work, auto note) {
        work.spawn({.name = "broadcast", .rank = 1}, [&m, note] {
            MPI_Bcast(m.data(), m.count(), MPI_BYTE, 0, MPI_COMM_WORLD);
            note();
        });
    });
}

inline times by_message_tasks(kernel& k, message& m) {
    return by_tasks(k, [&m](quern::domain& work, auto note) {
        work.spawn({.name = "receive and send", .rank = 1}, [&m, note] {
            hypercube(m).receive_and_send();
            note();
        });
    });
}

}  // namespace ccube
