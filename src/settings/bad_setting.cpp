// SPDX-License-Identifier: BSL-1.0
// An uncaught bad setting ends the program with one sentence. Settings are also read in programs
// that do not know the exception, when their first task starts the default runtime.
#include "parts.hpp"

#include <quern/base/detail/cxx_runtime.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace quern::detail {

namespace {

constexpr int k_usage = 2;  ///< conventional exit status for wrong usage of a command

constinit std::atomic<std::terminate_handler> g_before{nullptr};

[[noreturn]] void say_and_end() noexcept {
    try {
        if (const std::exception_ptr error = std::current_exception()) {
            std::rethrow_exception(error);
        }
    } catch (const bad_setting& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::fflush(stderr);
        std::_Exit(k_usage);
    } catch (...) {
    }
    g_before.load(std::memory_order_relaxed)();
    std::abort();
}

/// A plug-in may be unloaded.
[[gnu::destructor]] void leave_handler() {
    if (std::get_terminate() == say_and_end) {
        std::set_terminate(g_before.load(std::memory_order_relaxed));
    }
}

}  // namespace

void throw_bad_setting(const std::string& what) {
    const std::terminate_handler present = std::get_terminate();
    if (is_default_terminate_handler(present)) {  // else the program's own, or this one already
        g_before.store(present, std::memory_order_relaxed);
        std::set_terminate(say_and_end);
    }
    throw bad_setting("quern: " + what);
}

}  // namespace quern::detail
