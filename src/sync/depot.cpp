// SPDX-License-Identifier: BSL-1.0
// Putting parcels in and taking them out.
#include <quern/sync/depot.hpp>

#include <algorithm>
#include <limits>
#include <mutex>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern::detail {

bool depot::put(parcel& p) noexcept {
    taker* heir = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        if (m_closed) {
            return false;
        }
        if (m_takers.looks_empty()) {
            m_parcels.push(p);
            return true;
        }
        heir = &m_takers.pop();
        heir->got = &p;
    }
    heir->wake();
    return true;
}

parcel* depot::pop() noexcept { return m_parcels.looks_empty() ? nullptr : &m_parcels.pop(); }

parcel* depot::try_take() noexcept {
    const std::scoped_lock guard(m_lock);
    return pop();
}

bool depot::enqueue(taker& self) noexcept {
    const std::scoped_lock guard(m_lock);
    self.got = pop();
    if (self.got != nullptr || m_closed) {
        return false;
    }
    if (self.late) {
        self.expired = true;
        return false;
    }
    m_takers.push(self);
    return true;
}

bool depot::withdraw(taker& self) noexcept {
    const std::scoped_lock guard(m_lock);
    return m_takers.withdraw(self);
}

parcel* depot::take(const wait_reason& why) noexcept {
    if (parcel* const p = try_take()) {
        return p;
    }
    taker self;
    wait_in(self, why, [this, &self] { return enqueue(self); });
    return self.got;
}

bool depot::take_until(const wait_reason& why, timer::clock::time_point deadline,
                       parcel*& got) noexcept {
    got = try_take();
    if (got != nullptr || has_passed(deadline)) {
        return got != nullptr || is_closed();
    }
    taker self;
    const bool in_time = wait_in_until(
        self, why, deadline, [this, &self] { return enqueue(self); },
        [this, &self] { return withdraw(self) && wake_expired(self); });
    got = self.got;
    return in_time;
}

void depot::close() noexcept {
    taker* without = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        m_closed = true;
        without = m_takers.take_all();
    }
    wake_all(without);
}

bool depot::is_closed() const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_closed;
}

void depot::expect(std::size_t count) noexcept {
    m_expected = static_cast<std::uint32_t>(
        std::min<std::size_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

constexpr wait_kind depot::k_wait_for_value{"channel, to receive", sizeof(channel_depots),
                                            look_for_value};
constexpr wait_kind depot::k_wait_for_place{"channel, to send", sizeof(channel_depots),
                                            look_for_place};

void depot::look_for_value(const void* copy, wait_findings& into) noexcept {
    say(into, static_cast<const channel_depots*>(copy)->filled.m_parcels.looks_empty()
                  ? "empty"
                  : "not empty");
}

void depot::look_for_place(const void* copy, wait_findings& into) noexcept {
    const depot& places = static_cast<const channel_depots*>(copy)->free;
    say(into, places.m_parcels.looks_empty() ? "full: holds %u of %u" : "not full",
        places.m_expected, places.m_expected);
}

}  // namespace quern::detail
