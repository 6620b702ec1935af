// SPDX-License-Identifier: BSL-1.0
// Slots with a number of their use, so that a late or doubled answer finds nothing.
#include "calls.hpp"

#include <mutex>
#include <utility>

namespace quern::localities::detail {

namespace {

constexpr int k_turn_shift = 32;
/// The number has no k_tells_end.
constexpr std::uint32_t k_last_turn = (~k_tells_end >> k_turn_shift) & 0xffffffffU;

}  // namespace

std::uint64_t call_table::add(std::unique_ptr<waiting_call> call, int locality) {
    const std::scoped_lock lock(m_lock);
    if (m_free == 0) {
        m_slots.emplace_back();
        m_free = static_cast<std::uint32_t>(m_slots.size());
    }
    const std::uint32_t place = m_free - 1;
    slot& one = m_slots[place];
    m_free = one.next_free;
    one.call = std::move(call);
    one.locality = locality;
    ++m_waiting;
    return (std::uint64_t{one.turn} << k_turn_shift) + place;
}

std::unique_ptr<waiting_call> call_table::take(std::uint64_t number, int locality) noexcept {
    const auto place = static_cast<std::uint32_t>(number);
    const std::scoped_lock lock(m_lock);
    if (!is_call(number, locality)) {
        return nullptr;
    }
    slot& one = m_slots[place];
    one.turn = one.turn == k_last_turn ? 1 : one.turn + 1;
    one.next_free = m_free;
    m_free = place + 1;
    --m_waiting;
    return std::move(one.call);
}

/// Requires: the lock is held.
bool call_table::is_call(std::uint64_t number, int locality) const noexcept {
    const auto place = static_cast<std::uint32_t>(number);
    if (place >= m_slots.size()) {
        return false;
    }
    const slot& one = m_slots[place];
    return one.turn == number >> k_turn_shift && one.call &&
           (one.locality == k_anywhere || one.locality == locality);
}

void call_table::lend(std::uint64_t number, std::shared_ptr<lent_tokens> tokens) noexcept {
    const std::scoped_lock lock(m_lock);
    m_slots[static_cast<std::uint32_t>(number)].call->lent = std::move(tokens);
}

std::shared_ptr<lent_tokens> call_table::lent(std::uint64_t number, int locality) const noexcept {
    const std::scoped_lock lock(m_lock);
    return is_call(number, locality) ? m_slots[static_cast<std::uint32_t>(number)].call->lent
                                     : nullptr;
}

void call_table::forget(std::uint64_t number) noexcept {
    int locality = -1;
    {
        const std::scoped_lock lock(m_lock);
        locality = m_slots[static_cast<std::uint32_t>(number)].locality;
    }
    take(number, locality);
}

std::size_t call_table::waiting() const noexcept {
    const std::scoped_lock lock(m_lock);
    return m_waiting;
}

}  // namespace quern::localities::detail
