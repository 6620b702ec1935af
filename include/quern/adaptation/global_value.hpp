// SPDX-License-Identifier: BSL-1.0
// Values that the processes of a program share, so that a policy can act on the whole program: each
// process publishes its own, and reads one number of all. Between processes a session of layer
// localities carries them. Called by policies; never waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quern::adaptation {

enum class reduction : std::uint8_t { sum, least, most, mean };

/// A value by name; objects of the same name are the same value. Thread safe, also in policies.
/// Some 100 ns a call.
///
/// In a session of layer localities (quern/localities/session.hpp) each process has what the others
/// have published a moment ago: it is sent when it changes, to one process at a time the newest
/// only, so values that change faster than a message travels cost no more than it. When the
/// session ends, what was known stays.
///
///     const quern::adaptation::global_value load("load");
///     load.publish(0.75);
///     double busiest = load.reduce(quern::adaptation::reduction::most).value_or(0);
class global_value {
public:
    /// Throws std::invalid_argument for an empty name.
    explicit global_value(std::string name);

    /// Throws std::bad_alloc. Cost in a session: a message to each other process, by a task.
    void publish(double value) const;
    /// What this process has published last; nothing before, and in the child of a fork() what the
    /// parent had published.
    std::optional<double> get() const;
    /// What the process with that number has published last, as known here; nothing if nothing is.
    /// Throws as reduce().
    std::optional<double> get(int rank) const;
    /// Of all processes that have published it; nothing if none has, NaN if one of them has
    /// published NaN, whatever the reduction. Throws std::logic_error in an MPI job of more than
    /// one rank that has had no session, as the program that starts the ranks tells it in
    /// OMPI_COMM_WORLD_SIZE, PMI_SIZE, MV2_COMM_WORLD_SIZE or SLURM_STEP_NUM_TASKS.
    std::optional<double> reduce(reduction how) const;

private:
    std::string m_name;
};

}  // namespace quern::adaptation
