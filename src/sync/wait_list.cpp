// SPDX-License-Identifier: BSL-1.0
// The wait list: puts nodes in and takes them out.
#include <quern/sync/detail/wait_list.hpp>

#include <algorithm>
#include <limits>
#include <mutex>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern::detail {

bool wait_list::put(wait_node& p) noexcept {
    taker* next_owner = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        if (m_closed) {
            return false;
        }
        if (m_takers.looks_empty()) {
            m_nodes.push(p);
            return true;
        }
        next_owner = &m_takers.pop();
        next_owner->got = &p;
    }
    next_owner->wake();
    return true;
}

wait_node* wait_list::pop() noexcept { return m_nodes.looks_empty() ? nullptr : &m_nodes.pop(); }

wait_node* wait_list::try_take() noexcept {
    const std::scoped_lock guard(m_lock);
    return pop();
}

bool wait_list::enqueue(taker& self) noexcept {
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

bool wait_list::withdraw(taker& self) noexcept {
    const std::scoped_lock guard(m_lock);
    return m_takers.withdraw(self);
}

wait_node* wait_list::take(const wait_reason& why) noexcept {
    {
        const std::scoped_lock guard(m_lock);  // try_take() in place: a call costs a twentieth
        if (wait_node* const p = pop()) {
            return p;
        }
    }
    taker self;
    wait_in(self, why, [this, &self] { return enqueue(self); });
    return self.got;
}

template <class Limit>
bool wait_list::take_within(const wait_reason& why, const Limit& limit, wait_node*& got) noexcept {
    got = try_take();
    if (got != nullptr || has_passed(limit)) {
        return got != nullptr || is_closed();
    }
    taker self;
    const bool in_time = wait_in_until(
        self, why, limit, [this, &self] { return enqueue(self); },
        [this, &self] { return withdraw(self) && wake_expired(self); });
    got = self.got;
    return in_time;
}

bool wait_list::take_until(const wait_reason& why, timer::clock::time_point deadline,
                           wait_node*& got) noexcept {
    return take_within(why, deadline, got);
}

bool wait_list::take_until(const wait_reason& why, const std::stop_token& stop,
                           wait_node*& got) noexcept {
    return take_within(why, stop, got);
}

bool wait_list::take_until(const wait_reason& why, const stop_or_time& limit,
                           wait_node*& got) noexcept {
    return take_within(why, limit, got);
}

void channel_lists::close() noexcept {
    wait_list::taker* senders = nullptr;
    wait_list::taker* receivers = nullptr;
    {
        const std::scoped_lock outer(free.m_lock);
        const std::scoped_lock inner(filled.m_lock);
        free.m_closed = true;
        filled.m_closed = true;
        senders = free.m_takers.take_all();
        receivers = filled.m_takers.take_all();
    }
    wake_all(senders);
    wake_all(receivers);
}

bool wait_list::is_closed() const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_closed;
}

void wait_list::expect(std::size_t count) noexcept {
    m_expected = static_cast<std::uint32_t>(
        std::min<std::size_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

constexpr wait_kind wait_list::k_wait_for_value{"channel, to receive", sizeof(channel_lists),
                                                look_for_value};
constexpr wait_kind wait_list::k_wait_for_place{"channel, to send", sizeof(channel_lists),
                                                look_for_place};

void wait_list::look_for_value(const void* copy, wait_findings& into) noexcept {
    say(into, static_cast<const channel_lists*>(copy)->filled.m_nodes.looks_empty() ? "empty"
                                                                                    : "not empty");
}

void wait_list::look_for_place(const void* copy, wait_findings& into) noexcept {
    const wait_list& places = static_cast<const channel_lists*>(copy)->free;
    say(into, places.m_nodes.looks_empty() ? "full: holds %u of %u" : "not full", places.m_expected,
        places.m_expected);
}

}  // namespace quern::detail
