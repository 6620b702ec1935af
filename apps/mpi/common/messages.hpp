// SPDX-License-Identifier: BSL-1.0
// The messages of a task by the mechanism that the settings choose (docs/mpi.md, "Mechanisms"). A
// task that uses them is marked `.communication = true`. Must not contain anything of one
// application.
#pragma once

#include <quern/mpi/requests.hpp>
#include <quern/mpi/restart.hpp>
#include <quern/settings/settings.hpp>

#include <mpi.h>
#include <array>
#include <cstdint>
#include <string_view>

namespace apps::mpi {

enum class mechanism : std::uint8_t { library, thread, restart };

/// Of this process. Read and written by the main thread while no runtime lives, read by tasks.
inline mechanism& mechanism_of_tasks() {
    static mechanism chosen = mechanism::library;
    return chosen;
}

/// As the settings say now. Called before a runtime starts.
inline void follow_settings() {
    const std::string_view text = quern::current_settings().at("mpi-mechanism").text;
    mechanism_of_tasks() = text == "thread"    ? mechanism::thread
                           : text == "restart" ? mechanism::restart
                                               : mechanism::library;
}

/// One message of a task. A capture of the task's mutable function, so that it outlives a restart:
/// it begins once, however often the function does. What is sent or received must outlive it too.
class message {
public:
    /// On a thread for all messages a sending that waits for its receiver would keep back what the
    /// receiver waits for: there the task is complete later.
    void send(const double* from, int count, int to, int tag, MPI_Comm comm = MPI_COMM_WORLD) {
        switch (mechanism_of_tasks()) {
            case mechanism::library:
                MPI_Send(from, count, MPI_DOUBLE, to, tag, comm);
                return;
            case mechanism::thread:
                MPI_Isend(from, count, MPI_DOUBLE, to, tag, comm, &m_requests[0]);
                quern::mpi::bind(m_requests[0]);
                return;
            case mechanism::restart:
                if (begins()) {
                    MPI_Isend(from, count, MPI_DOUBLE, to, tag, comm, &m_requests[0]);
                }
                quern::mpi::wait_or_restart(m_requests);
        }
    }

    void receive(double* into, int count, int from, int tag, MPI_Comm comm = MPI_COMM_WORLD) {
        if (mechanism_of_tasks() != mechanism::restart) {
            MPI_Recv(into, count, MPI_DOUBLE, from, tag, comm, MPI_STATUS_IGNORE);
            return;
        }
        if (begins()) {
            MPI_Irecv(into, count, MPI_DOUBLE, from, tag, comm, &m_requests[0]);
        }
        quern::mpi::wait_or_restart(m_requests);
    }

    /// Both at once, with one tag in MPI_COMM_WORLD.
    void exchange(const double* sent, int sent_count, int to, double* received, int received_count,
                  int from, int tag) {
        if (mechanism_of_tasks() != mechanism::restart) {
            MPI_Sendrecv(sent, sent_count, MPI_DOUBLE, to, tag, received, received_count,
                         MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            return;
        }
        if (begins()) {
            MPI_Irecv(received, received_count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                      &m_requests[0]);
            MPI_Isend(sent, sent_count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &m_requests[1]);
        }
        quern::mpi::wait_or_restart(m_requests);
    }

    /// The largest, or the sum, of the numbers of all ranks.
    double reduced(double mine, MPI_Op by) {
        if (mechanism_of_tasks() != mechanism::restart) {
            MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, by, MPI_COMM_WORLD);
            return mine;
        }
        if (begins()) {
            m_value = mine;
            MPI_Iallreduce(MPI_IN_PLACE, &m_value, 1, MPI_DOUBLE, by, MPI_COMM_WORLD,
                           &m_requests[0]);
        }
        quern::mpi::wait_or_restart(m_requests);
        return m_value;
    }

private:
    bool begins() {
        const bool is_first = !m_has_begun;
        m_has_begun = true;
        return is_first;
    }

    bool m_has_begun = false;
    std::array<MPI_Request, 2> m_requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    double m_value = 0;
};

}  // namespace apps::mpi
