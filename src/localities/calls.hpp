// SPDX-License-Identifier: BSL-1.0
// The calls of this locality whose answers have not come, by number. An answer names its call by
// that number, never by an address: what comes from outside is looked up.
#pragma once

#include <quern/localities/detail/parcel.hpp>

#include <quern/base/detail/spin_lock.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace quern::localities::detail {

/// Any thread.
class call_table {
public:
    /// The number, never 0. Throws std::bad_alloc.
    std::uint64_t add(std::unique_ptr<waiting_call> call, int locality);
    /// Null: there is no such call, or not to that locality. Once for each call.
    std::unique_ptr<waiting_call> take(std::uint64_t number, int locality) noexcept;
    /// Drops a call that was not made after all.
    void forget(std::uint64_t number) noexcept;
    /// The stop tokens of a call, which has not been sent yet.
    void lend(std::uint64_t number, std::shared_ptr<lent_tokens> tokens) noexcept;
    /// Null: there is no such call, or not to that locality, or it has none.
    std::shared_ptr<lent_tokens> lent(std::uint64_t number, int locality) const noexcept;
    std::size_t waiting() const noexcept;

private:
    struct slot {
        std::unique_ptr<waiting_call> call{};
        int locality = -1;
        std::uint32_t turn = 1;       ///< how often it was used: in the number
        std::uint32_t next_free = 0;  ///< while it is free: that slot's place, plus 1
    };

    bool is_call(std::uint64_t number, int locality) const noexcept;

    mutable quern::detail::spin_lock m_lock;
    std::vector<slot> m_slots;
    std::uint32_t m_free = 0;  ///< a free slot's place, plus 1; 0: none
    std::size_t m_waiting = 0;
};

}  // namespace quern::localities::detail
