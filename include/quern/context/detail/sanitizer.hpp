// SPDX-License-Identifier: BSL-1.0
// Tells AddressSanitizer and ThreadSanitizer about stack switches, so that their reports are
// correct. Every function is empty in an ordinary build. Called by execution_stack.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>

#if QUERN_ASAN
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
#endif
#if QUERN_TSAN
#    include <sanitizer/tsan_interface.h>
#endif

namespace quern::detail {

/// Number of threads that the sanitizer runs itself.
#if QUERN_TSAN
inline constexpr std::size_t k_sanitizer_threads = 1;
#else
inline constexpr std::size_t k_sanitizer_threads = 0;
#endif

/// The sanitizers' state of one stack.
struct sanitizer_state {
    void* fake_stack = nullptr;  ///< AddressSanitizer's stack for use-after-return
    void* fiber = nullptr;       ///< ThreadSanitizer's fibre
    bool owns_fiber = false;
};

#if QUERN_ASAN
inline void sanitizer_before_switch(sanitizer_state* from, const void* bottom,
                                    std::size_t size) noexcept {
    __sanitizer_start_switch_fiber(from != nullptr ? &from->fake_stack : nullptr, bottom, size);
}
inline void sanitizer_after_switch(sanitizer_state& here) noexcept {
    __sanitizer_finish_switch_fiber(here.fake_stack, nullptr, nullptr);
    here.fake_stack = nullptr;
}
inline void sanitizer_forget_frames(void* low, std::size_t size) noexcept {
    __asan_unpoison_memory_region(low, size);
}
#else
inline void sanitizer_before_switch(sanitizer_state*, const void*, std::size_t) noexcept {}
inline void sanitizer_after_switch(sanitizer_state&) noexcept {}
inline void sanitizer_forget_frames(void*, std::size_t) noexcept {}
#endif

#if QUERN_TSAN
inline void sanitizer_adopt_thread(sanitizer_state& state) noexcept {
    state.fiber = __tsan_get_current_fiber();
}
inline void sanitizer_create_fiber(sanitizer_state& state) noexcept {
    state.fiber = __tsan_create_fiber(0);
    state.owns_fiber = true;
}
inline void sanitizer_destroy_fiber(sanitizer_state& state) noexcept {
    if (state.owns_fiber && state.fiber != nullptr) {
        __tsan_destroy_fiber(state.fiber);
    }
    state.fiber = nullptr;
    state.owns_fiber = false;
}
/// Synchronising: effects on the stack that is left happen before what follows on the entered one,
/// because both run on this thread. Ordering between threads remains up to the runtime.
inline void sanitizer_switch_fiber(sanitizer_state& to) noexcept {
    constexpr unsigned k_synchronise = 0;
    __tsan_switch_to_fiber(to.fiber, k_synchronise);
}
#else
inline void sanitizer_adopt_thread(sanitizer_state&) noexcept {}
inline void sanitizer_create_fiber(sanitizer_state&) noexcept {}
inline void sanitizer_destroy_fiber(sanitizer_state&) noexcept {}
inline void sanitizer_switch_fiber(sanitizer_state&) noexcept {}
#endif

}  // namespace quern::detail
