// SPDX-License-Identifier: BSL-1.0
// Values that the processes of a program share, so that a policy can act on the whole program: each
// process publishes its own, and reads one number of all. Values do not leave their process yet: in
// a job of several, reduce() refuses to answer for one of them. Called by policies; never waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quern::adaptation {

enum class reduction : std::uint8_t { sum, least, most, mean };

/// A value by name; objects of the same name are the same value. Thread safe, also in policies.
/// Some 100 ns a call.
///
///     const quern::adaptation::global_value load("load");
///     load.publish(0.75);
///     double busiest = load.reduce(quern::adaptation::reduction::most).value_or(0);
class global_value {
public:
    /// Throws std::invalid_argument for an empty name.
    explicit global_value(std::string name);

    /// Throws std::bad_alloc.
    void publish(double value) const;
    /// What this process has published last; nothing before, and in the child of a fork() what the
    /// parent had published.
    std::optional<double> get() const;
    /// Of all processes that have published it; nothing if none has. Throws std::logic_error in an
    /// MPI job of more than one rank, as the program that starts the ranks tells it in
    /// OMPI_COMM_WORLD_SIZE, PMI_SIZE, MV2_COMM_WORLD_SIZE or SLURM_STEP_NUM_TASKS.
    std::optional<double> reduce(reduction how) const;

private:
    std::string m_name;
};

}  // namespace quern::adaptation
