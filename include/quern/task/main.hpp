// SPDX-License-Identifier: BSL-1.0
// An optional wrapper for a program's main: starts a runtime, runs a function on it, and turns an
// exception into a message and an exit status. Saves six lines.
#pragma once

#include <quern/scheduler/crash_handler.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/detail/run_on.hpp>

#include <cstdio>
#include <exception>
#include <type_traits>

namespace quern {

namespace detail {

template <class Body>
inline constexpr bool k_is_main_body =
    std::is_invocable_v<Body&> || std::is_invocable_v<Body&, int, char**>;

template <class Body>
inline constexpr bool k_gives_status = [] {
    const auto fits = []<class R>(std::type_identity<R>) {
        return std::is_void_v<R> || std::is_convertible_v<R, int>;
    };
    if constexpr (std::is_invocable_v<Body&, int, char**>) {
        return fits(std::type_identity<std::invoke_result_t<Body&, int, char**>>());
    } else if constexpr (std::is_invocable_v<Body&>) {
        return fits(std::type_identity<std::invoke_result_t<Body&>>());
    }
    return false;
}();

template <class Body>
int run_main(const void* site, int argc, char** argv, Body& body) noexcept {
    try {
        if (!take_command_line(argc, argv)) {
            return 0;
        }
        install_crash_handler();
        runtime here;
        return detail::run_on(here.default_pool().get(), site, [&]() -> int {
            const auto call = [&] {
                if constexpr (std::is_invocable_v<Body&, int, char**>) {
                    return body(argc, argv);
                } else {
                    return body();
                }
            };
            if constexpr (std::is_void_v<decltype(call())>) {
                call();
                return 0;
            } else {
                return call();
            }
        });
    } catch (const bad_setting& error) {
        std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "program", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "program", error.what());
    } catch (...) {
        std::fprintf(stderr, "%s: an exception that is no std::exception\n",
                     argc > 0 ? argv[0] : "program");
    }
    return 1;
}

}  // namespace detail

/// Takes the options --quern:* out of the command line, starts a runtime, runs body() or body(argc,
/// argv) as its first task, ends the runtime, and returns main's exit status: the body's int, or 0
/// if it returns void. The option --quern:help prints the settings and returns 0 without running
/// the body. An exception that leaves the body is printed to stderr and gives 1, an unknown or bad
/// setting 2. Crashes are reported (crash_handler.hpp) unless disabled by the settings.
/// Requires: not called on a worker.
///
///     int main(int argc, char** argv) {
///         return quern::main(argc, argv, [] { return solve() ? 0 : 1; });
///     }
template <class Body>
QUERN_ALWAYS_INLINE int main(int argc, char** argv, Body&& body) noexcept {
    static_assert(detail::k_is_main_body<Body>,
                  "quern: main: the function takes nothing, or argc and argv (int, char**)");
    static_assert(!detail::k_is_main_body<Body> || detail::k_gives_status<Body>,
                  "quern: main: the function returns void or the exit status, an int");
    if constexpr (detail::k_is_main_body<Body> && detail::k_gives_status<Body>) {
        return detail::run_main(detail::code_address(), argc, argv, body);
    } else {
        return 1;
    }
}

}  // namespace quern
