// SPDX-License-Identifier: BSL-1.0
// The settings of this layer: how tasks wait for messages, and the thread level of the library.
#pragma once

#include <chrono>
#include <cstdint>

namespace quern {
class settings;
}

namespace quern::mpi::detail {

/// The thesis' mechanisms (docs/mpi.md, "Mechanisms").
enum class mechanism : std::uint8_t { library, thread, restart };

/// Of the runtime that was made last.
mechanism chosen_mechanism() noexcept;

/// Adds the settings, and tells the scheduler where tasks that pass messages run. Later calls do
/// nothing.
void add_mechanisms();

/// A runtime with these settings begins.
void obey_mechanism(const settings& chosen) noexcept;

/// How long idle workers look without pause after an operation has begun or ended.
std::chrono::microseconds eager_time(const settings& chosen);

/// The level that the settings ask for: MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE. Throws
/// std::invalid_argument for any unknown setting or value.
int wanted_level();

/// Whether calls without a non-blocking form may be in MPI beside the thread inside the entrance:
/// MPI_THREAD_MULTIPLE was asked for by the program or the settings, and obtained.
bool may_call_beside() noexcept;

/// MPI has been initialised. Returns the level on which the program may rely: at most
/// MPI_THREAD_SERIALIZED if calls cannot be beside each other.
int note_level(int wanted, int obtained) noexcept;
/// That level, or what the library says before note_level().
int promised_level(int of_library) noexcept;

}  // namespace quern::mpi::detail
