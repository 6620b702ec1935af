// SPDX-License-Identifier: BSL-1.0
// What Quern asks of the C++ runtime beyond the standard, and where the runtime of libc++ differs
// from that of libstdc++. Not for users.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cxxabi.h>
#include <exception>

#if defined(_LIBCPP_VERSION)
namespace __cxxabiv1 {
struct __cxa_eh_globals;
/// libc++abi has it, as the Itanium C++ ABI demands, but declares it in no header.
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace quern::detail {

/// Whether it is the runtime's own handler, which prints a message and aborts.
bool is_default_terminate_handler(std::terminate_handler handler) noexcept;

}  // namespace quern::detail
