// SPDX-License-Identifier: BSL-1.0
// Finding a place for a note, and the note again.
#include <quern/scheduler/coroutine_notes.hpp>

#include <quern/base/clock.hpp>

namespace quern::detail {

void coroutine_notes::begin(const runnable& who, const void* frame,
                            const wait_reason& why) noexcept {
    set& s = set_of(who);
    for (std::size_t i = 0; i < k_ways; ++i) {
        const runnable* nobody = nullptr;
        // acquire: what the one before has written there comes first
        if (s.who[i].load(std::memory_order_relaxed) == nullptr &&
            s.who[i].compare_exchange_strong(nobody, &who, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
            s.notes[i].frame = frame;
            s.notes[i].wait.begin(why, ticks());
            return;
        }
    }
}

void coroutine_notes::end(const runnable& who) noexcept {
    set& s = set_of(who);
    for (std::size_t i = 0; i < k_ways; ++i) {
        if (s.who[i].load(std::memory_order_relaxed) == &who) {
            s.notes[i].wait.end();
            s.who[i].store(nullptr, std::memory_order_release);  // pairs with begin
            return;
        }
    }
}

}  // namespace quern::detail
