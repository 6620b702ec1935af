// SPDX-License-Identifier: BSL-1.0
// The call without a non-blocking twin that holds the entrance, if there is one: reports name it.
// README.md, section "What blocks".
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/symbols.hpp>

#include <sys/types.h>

#include <optional>
#include <string>

namespace quern::mpi::detail {

/// A call without a twin that holds the entrance.
struct long_call {
    const char* name;
    const char* why;
    quern::detail::call_chain from;
    quern::detail::tick_count since = 0;
    pid_t thread = 0;            ///< that is in MPI; kernel thread id
    bool is_waited_for = false;  ///< by another call
};

/// While it lives the call is in the entrance.
class in_long_call {
public:
    explicit in_long_call(long_call& one) noexcept { set(&one); }
    in_long_call(const in_long_call&) = delete;
    in_long_call& operator=(const in_long_call&) = delete;
    ~in_long_call() { set(nullptr); }

private:
    static void set(long_call* one) noexcept;
};

bool is_in_long_call() noexcept;
std::optional<long_call> long_call_now() noexcept;

/// Another call waits for it.
void note_wait_for_long_call() noexcept;

/// Says, once for each function, that other calls wait for it.
void warn_of(const long_call& one) noexcept;

/// " (called in exchange() at halo.cpp:21)", or empty. Reads debug information.
std::string place_of(const long_call& one);

}  // namespace quern::mpi::detail
