// SPDX-License-Identifier: BSL-1.0
// The contexts of one worker that are not running but hold public fork entries: suspended ones, and
// those below a call on a fresh stack. Thieves look here after the running context.
#pragma once

#include <quern/base/detail/intrusive_list.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

class stealable_contexts {
public:
    void put(context& c) noexcept;
    static void take(
        context& c) noexcept;  ///< from whichever stealable contexts it stands on, if any
    /// `from`: the context that held it, when there is one.
    fork_entry* steal(context*& from) noexcept;
    bool has_public() noexcept;

private:
    void remove(context& c) noexcept;

    spin_lock m_lock;
    intrusive_list<context> m_contexts;
    std::atomic<std::uint32_t> m_count{0};
};

}  // namespace quern::detail
