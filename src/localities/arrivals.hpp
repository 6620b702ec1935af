// SPDX-License-Identifier: BSL-1.0
// Runs the parcels of a message that has come: one item of the ready queue, which runs its parcels
// one after the other, each as a task of its own, on another stack. If one of them suspends, the
// next ones run at once. What takes long is shared with other workers. Protocol: README.md, section
// "Arrivals".
#pragma once

#include <quern/localities/detail/parcel.hpp>

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/work.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace quern::localities::detail {

/// Makes the parcels ready. `first`: the number of the first one on its link. Copies the bytes.
/// Ends the program if memory has run out.
void run_parcels(job& of, quern::detail::pool& where, int from, std::uint32_t first,
                 std::span<const std::byte> parcels) noexcept;

// What the parcels need of the job:

/// Reads a parcel, runs it, answers.
void perform(arrived_parcel& parcel) noexcept;
/// Answers the exception that is being handled, or treats it as one of a posted task.
void has_failed(const arrived_parcel& parcel) noexcept;
/// All parcels of a message have begun. The message has ended; until then the job does not.
void message_has_run(job& of, int from) noexcept;
/// Also these counts keep the job from its end, so they are the last access of what they count.
void parcels_have_run(job& of, std::uint64_t count) noexcept;

}  // namespace quern::localities::detail
