// SPDX-License-Identifier: BSL-1.0
// What the items of a pipeline pass, for pipeline_run.hpp: the source with its tokens, and the
// stages that take one item at a time. Nothing here calls user code or waits: an item that cannot
// enter a stage is parked there, and the task that leaves the stage takes it over.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace quern::detail {

/// A token: the place of one item in flight.
struct pipeline_item {
    std::uint64_t number = 0;       ///< in the order of the source
    pipeline_item* next = nullptr;  ///< link of the list it is in
    bool failed = false;            ///< has no value any more, but keeps its turns
};

/// The right to call the source, and the free tokens. At most one task calls the source, at most
/// one starter is queued.
/// Invariant: while the source is idle, not at its end, and a token is free, a starter is queued or
/// a task is between two calls of this object.
class pipeline_source {
public:
    void add_token(pipeline_item& free) noexcept { push(free); }

    /// A queued starter begins to run.
    void starter_begins() noexcept;

    /// Gives the right to call the source, with the token for its item; null if there is nothing to
    /// do for the caller. Takes back `held`, unless that is null.
    pipeline_item* claim(pipeline_item* held) noexcept;

    /// The source has given an item. True: the caller must queue a starter.
    bool item_begins(pipeline_item& item) noexcept;

    /// The source is not called any more. Takes back its token.
    void ends(pipeline_item& unused) noexcept;

    /// Takes back the token of a finished item, or nothing if it is null. True: the caller must
    /// queue a starter.
    bool give_back(pipeline_item* finished) noexcept;

    /// A starter could not be queued.
    void no_starter() noexcept;

    /// Ends the source. The first error is kept, later ones go to the handler.
    void fail(std::exception_ptr error) noexcept;

    /// When no task uses it any more.
    void rethrow_error();

private:
    void push(pipeline_item& free) noexcept {
        free.next = m_free;
        m_free = &free;
    }
    bool must_start() noexcept;

    spin_lock m_lock;
    bool m_busy = false;
    bool m_ended = false;
    bool m_starter_queued = false;
    pipeline_item* m_free = nullptr;
    std::uint64_t m_items = 0;
    std::exception_ptr m_error;
};

/// A stage that items pass in the order of the source. Each slot is the meeting point of an item
/// and of its predecessor's departure: the second of the two lets the item in.
/// At most as many items are in flight as there are slots. So item n + slots exists only after item
/// n has ended, and each slot has one user pair at a time.
class ordered_gate {
public:
    explicit ordered_gate(std::size_t tokens);

    /// True: the item is in the stage. False: it is parked, and no longer the caller's.
    bool enter(pipeline_item& item) noexcept {
        slot& mine = slot_of(item.number);
        // acquire: pairs with leave, also below.
        if (mine.load(std::memory_order_acquire) != &m_open) {
            // release: pairs with leave, which takes the parked item.
            if (mine.exchange(&item, std::memory_order_acq_rel) != &m_open) {
                return false;
            }
        }
        mine.store(nullptr,
                   std::memory_order_relaxed);  // its next user comes after this item's end
        return true;
    }

    /// The item leaves the stage. Returns the next one if that is parked: it is in the stage now.
    pipeline_item* leave(const pipeline_item& item) noexcept {
        slot& next = slot_of(item.number + 1);
        // acq_rel: release pairs with the acquire in enter, acquire with its release.
        pipeline_item* const parked = next.exchange(&m_open, std::memory_order_acq_rel);
        if (parked != nullptr) {
            next.store(nullptr, std::memory_order_relaxed);
        }
        return parked;
    }

    /// Whether an item without a value has to pass.
    static constexpr bool k_keeps_turns = true;

private:
    using slot = std::atomic<pipeline_item*>;

    slot& slot_of(std::uint64_t number) noexcept { return m_slots[number % m_count]; }

    pipeline_item m_open;  ///< its address in a slot: the predecessor has left
    const std::size_t m_count;
    std::unique_ptr<slot[]> m_slots;
};

/// A stage that takes one item at a time, in the order of their arrival.
class serial_gate {
public:
    explicit serial_gate(std::size_t /*tokens*/) noexcept {}

    /// As ordered_gate.
    bool enter(pipeline_item& item) noexcept;
    pipeline_item* leave(const pipeline_item& item) noexcept;

    static constexpr bool k_keeps_turns = false;

private:
    spin_lock m_lock;
    bool m_busy = false;
    pipeline_item* m_first = nullptr;
    pipeline_item* m_last = nullptr;  ///< meaningless when m_first is null
};

}  // namespace quern::detail
