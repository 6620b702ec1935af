// SPDX-License-Identifier: BSL-1.0
// libstdc++ has a name for its terminate handler. libc++abi has none, so the handler is the one
// that is set before the program's constructors run, if it also lies where the runtime lies: a
// plug-in is loaded later, and may find the program's own.
#include <quern/base/detail/cxx_runtime.hpp>

#include <cstdlib>

#if defined(_LIBCPP_VERSION)

#    include <dlfcn.h>

namespace quern::detail {

namespace {

constinit std::terminate_handler g_at_start = nullptr;

constexpr int k_first_of_all = 101;  // of the priorities that are not the compiler's

[[gnu::constructor(k_first_of_all)]] void see_handler() { g_at_start = std::get_terminate(); }

/// Where the program or library that has the function is loaded; null if unknown.
template <class Function>
const void* home_of(Function* function) noexcept {
    Dl_info about{};
    return ::dladdr(reinterpret_cast<void*>(function), &about) != 0 ? about.dli_fbase : nullptr;
}

}  // namespace

bool is_default_terminate_handler(std::terminate_handler handler) noexcept {
    return handler == std::abort ||
           (handler == g_at_start && home_of(handler) == home_of(&abi::__cxa_get_globals));
}

}  // namespace quern::detail

#else

namespace quern::detail {

bool is_default_terminate_handler(std::terminate_handler handler) noexcept {
    return handler == __gnu_cxx::__verbose_terminate_handler || handler == std::abort;
}

}  // namespace quern::detail

#endif
