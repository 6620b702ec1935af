// SPDX-License-Identifier: BSL-1.0
// What carries a channel: things that are put in and taken out in order, and those who wait for
// one. A thing is an intrusive link, so that the user's values are made, moved and destroyed by
// their own tasks and never under the spin lock. Nothing here owns what it holds.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/scheduler/timers.hpp>
#include <quern/sync/waiting.hpp>

#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// Base of what a depot holds.
struct parcel {
    parcel* next = nullptr;
};

/// First in, first out, for parcels and for those who wait. Once it is closed nothing is put in any
/// more; what is in it can still be taken out.
class depot {
public:
    /// What one that waits for something from it notes, for reports: as the depot of values, or of
    /// free places, of a channel. The thing is the channel_depots.
    static const wait_kind k_wait_for_value;
    static const wait_kind k_wait_for_place;

    constexpr depot() noexcept = default;

    /// Gives it to the one that has waited longest, or keeps it. False: closed, nothing is done.
    /// With an heir the last access is the release of the spin lock, before it is woken.
    bool put(parcel& p) noexcept;

    /// Waits until there is one. Null: closed, and there is none.
    parcel* take(const wait_reason& why) noexcept;

    /// One that waits for a parcel. Null when it goes on: closed, and there is none.
    struct taker : waiter {
        parcel* got = nullptr;
    };

    /// For a coroutine: false when `self` need not wait, and has what it got.
    bool enqueue(taker& self) noexcept;

    /// The same until a time at the latest. True: need not wait longer, with `got` as above.
    bool take_until(const wait_reason& why, timer::clock::time_point deadline,
                    parcel*& got) noexcept;

    /// Null: there is none.
    parcel* try_take() noexcept;

    /// Lets all go on that wait, with nothing.
    void close() noexcept;

    bool is_closed() const noexcept;

    /// For reports: how many there are when none is missing.
    void expect(std::size_t count) noexcept;

private:
    static void look_for_value(const void* copy, wait_findings& into) noexcept;
    static void look_for_place(const void* copy, wait_findings& into) noexcept;
    bool withdraw(taker& self) noexcept;

    parcel* pop() noexcept;

    mutable spin_lock m_lock;
    bool m_closed = false;
    std::uint32_t m_expected = 0;  ///< parcels when none is missing; for reports
    wait_queue<std_atomics, parcel> m_parcels;
    /// Invariant: empty while there are parcels or it is closed, when m_lock is free.
    wait_queue<std_atomics, taker> m_takers;
};

/// The two of a channel. Its first member: so reports show one address, the channel's, whatever is
/// waited for.
struct channel_depots {
    depot filled;
    depot free;  ///< always empty when the channel is unbounded
};

}  // namespace quern::detail
