// SPDX-License-Identifier: BSL-1.0
// The wait list: puts nodes in and takes them out.
#include <quern/sync/detail/wait_list.hpp>

#include <algorithm>
#include <limits>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern::detail {

namespace {

/// How long a task spins before it suspends: about 2 us. Nodes that are put in meanwhile come in a
/// batch, which costs both sides one cache miss instead of one for each node. Measured: with 48 and
/// 64 a bounded channel between two workers takes 50 ns a value, with 32 70, without 120.
constexpr int k_pauses = 48;

/// Waits that suspend at once after a spin that has not brought a batch (guessed): such spins may
/// cost 1 % of a dialogue in which each side waits for the other one.
constexpr std::uint32_t k_spinless = 64;

/// Whether another thread than the caller's may put a node in while the caller spins.
bool others_run() noexcept {
    const context* const here = current_context();
    return here == nullptr || here->host().home().size() > 1;
}

}  // namespace

void wait_list::wake(taker& next_owner) noexcept { next_owner.wake(); }

wait_node* wait_list::take_by_spinning() noexcept {
    const std::uint32_t spinless = m_spinless.load(std::memory_order_relaxed);
    if (spinless != 0) {
        m_spinless.store(spinless - 1, std::memory_order_relaxed);
        return nullptr;
    }
    if (!others_run() || looks_awaited()) {  // those who wait come first
        return nullptr;
    }
    for (int i = 0; i != k_pauses; ++i) {
        std_atomics::pause();
    }
    wait_node* const p = try_take();
    if (p == nullptr || !looks_moved()) {
        m_spinless.store(k_spinless, std::memory_order_relaxed);
    }
    return p;
}

wait_node* wait_list::wait_for_node(const wait_reason& why) noexcept {
    if (wait_node* const p = take_by_spinning()) {
        return p;
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
    got = take_by_spinning();
    if (got != nullptr) {
        return true;
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
    const auto [senders, receivers] = wait_list::node_queue::close(free, filled);
    wake_all(senders);
    wake_all(receivers);
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
    say(into,
        static_cast<const channel_lists*>(copy)->filled.looks_empty() ? "empty" : "not empty");
}

void wait_list::look_for_place(const void* copy, wait_findings& into) noexcept {
    const wait_list& places = static_cast<const channel_lists*>(copy)->free;
    say(into, places.looks_empty() ? "full: holds %u of %u" : "not full", places.m_expected,
        places.m_expected);
}

}  // namespace quern::detail
