// SPDX-License-Identifier: BSL-1.0
// hpx::init, start, stop and finalize: the runtime, the options --hpx:*, and hpx_main as its first
// task. Unlike HPX's, the runtime ends when hpx_main has returned and all ready tasks have run:
// finalize() is needed only without an hpx_main.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/compat/hpx/program_options.hpp>
#include <quern/compat/hpx/resource.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(HPX_APPLICATION_STRING)
#    define HPX_APPLICATION_STRING "a program"
#endif

namespace hpx {

using startup_function_type = std::function<void()>;
using shutdown_function_type = std::function<void()>;
enum class runtime_mode { invalid, console, worker, connect, local, default_ };

/// A program's settings of its runtime.
struct init_params {
    program_options::options_description desc_cmdline;
    /// "hpx.os_threads=4", or all; "hpx.run_hpx_main!=1"; other settings of HPX are ignored
    std::vector<std::string> cfg;
    startup_function_type startup;
    shutdown_function_type shutdown;
    runtime_mode mode = runtime_mode::default_;
    resource::partitioner_mode rp_mode = resource::mode_default;
    std::function<void(resource::partitioner&, const program_options::variables_map&)> rp_callback;
};

namespace detail {

/// The first task, in a common form. Empty: none.
using main_function = std::function<int(program_options::variables_map&, int, char**)>;

/// How a job of several localities begins and ends, in the main thread; set by the library for
/// them.
struct job_of_localities {
    void (*begin)(int& argc, char**& argv);
    void (*end)();  ///< waits for the other localities
    bool (*is_root)();
    void (*run_at_others)(void (*f)());  ///< and waits
};
void set_job_of_localities(const job_of_localities& job) noexcept;

int run_runtime(const main_function& body, int argc, char** argv, const init_params& params);
bool start_runtime(const main_function& body, int argc, char** argv, const init_params& params);

template <class F>
main_function make_main(F f) {
    if constexpr (std::is_same_v<F, std::nullptr_t>) {
        return {};
    } else {
        if constexpr (std::is_constructible_v<bool, F> && !std::is_empty_v<F>) {
            if (!f) {
                return {};
            }
        }
        return [f = std::move(f)](program_options::variables_map& vm, int argc, char** argv) {
            if constexpr (std::is_invocable_v<const F&, program_options::variables_map&>) {
                return f(vm);
            } else if constexpr (std::is_invocable_v<const F&, int, char**>) {
                return f(argc, argv);
            } else {
                return f();
            }
        };
    }
}

// The program's own ::hpx_main, in its form; the other two are null. They are named by their
// symbols, so that no overload of hpx_main is declared beside the program's.
extern int main_of_options(program_options::variables_map&) __asm__(
    "_Z8hpx_mainRN3hpx15program_options13variables_mapE") __attribute__((weak));
extern int main_of_arguments(int, char**) __asm__("_Z8hpx_mainiPPc") __attribute__((weak));
extern int main_of_nothing() __asm__("_Z8hpx_mainv") __attribute__((weak));

inline main_function program_main() {
    if (&main_of_options != nullptr) {
        return make_main(&main_of_options);
    }
    if (&main_of_arguments != nullptr) {
        return make_main(&main_of_arguments);
    }
    return make_main(&main_of_nothing);
}

}  // namespace detail

/// Starts the runtime, runs hpx_main (or the given function) as a task, ends the runtime, and
/// returns the function's result, or throws its exception. Removes the options --hpx:* and
/// --quern:*; those of params.desc_cmdline are passed as variables_map. A bad option is printed to
/// stderr, and gives -1; --hpx:help and --help give 0. Requires: not called in a task.
///
/// With several localities all call it, in the main thread. hpx_main runs only at the root, unless
/// params.cfg has "hpx.run_hpx_main!=1"; elsewhere init() returns 0 when the job ends: when all
/// hpx_main have returned, or thrown, and no call is under way.
inline int init(int argc, char** argv, const init_params& params = {}) {
    return detail::run_runtime(detail::program_main(), argc, argv, params);
}
template <class F>
    requires(!std::is_integral_v<F>)
int init(F f, int argc, char** argv, const init_params& params = {}) {
    return detail::run_runtime(detail::make_main(std::move(f)), argc, argv, params);
}
inline int init(const program_options::options_description& options, int argc, char** argv) {
    init_params params;
    params.desc_cmdline = options;
    return init(argc, argv, params);
}
inline int init(const init_params& params = {}) { return init(0, nullptr, params); }

/// The same without waiting; stop() waits. False: --help was printed, or an option was bad.
inline bool start(int argc, char** argv, const init_params& params = {}) {
    return detail::start_runtime(detail::program_main(), argc, argv, params);
}
template <class F>
    requires(!std::is_integral_v<F>)
bool start(F f, int argc, char** argv, const init_params& params = {}) {
    return detail::start_runtime(detail::make_main(std::move(f)), argc, argv, params);
}
/// Waits for hpx_main, or without one for finalize(); ends the runtime. Returns or throws as
/// init().
int stop();

int finalize(double = -1.0, double = -1.0);
inline int finalize(error_code&) { return finalize(); }
inline int disconnect() { return finalize(); }
[[noreturn]] inline void terminate() { std::terminate(); }
bool is_running() noexcept;
/// Called in the first task before hpx_main, and after it; from any thread before that.
void register_startup_function(startup_function_type f);
void register_shutdown_function(shutdown_function_type f);
inline void register_pre_startup_function(startup_function_type f) {
    register_startup_function(std::move(f));
}
inline void register_pre_shutdown_function(shutdown_function_type f) {
    register_shutdown_function(std::move(f));
}

namespace local {
using hpx::finalize;
using hpx::init;
using hpx::init_params;
using hpx::start;
using hpx::stop;
using hpx::terminate;
}  // namespace local

#if !defined(QUERN_HPX_LOCALITIES)
/// There is only one locality.
inline std::size_t get_locality_id() noexcept { return 0; }
inline std::size_t get_num_localities(launch = launch::sync) noexcept { return 1; }
inline std::string get_locality_name() { return "local"; }
#endif

}  // namespace hpx
