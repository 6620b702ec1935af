// SPDX-License-Identifier: BSL-1.0
// The counters of this process: those of Quern and those that the program installs. Used to install
// and to find counters; counter.hpp reads them.
#pragma once

#include <quern/counters/detail/attach.hpp>
#include <quern/counters/source.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::counters {

namespace detail {
class installed_source;
}

/// Keeps counters installed. Its destructor removes them; no reader reads them afterwards. Movable.
class [[nodiscard]] installation {
public:
    installation() noexcept = default;
    explicit installation(std::shared_ptr<detail::installed_source> what) noexcept
        : m_what(std::move(what)) {}
    installation(installation&& from) noexcept = default;
    installation& operator=(installation&& from) noexcept;
    ~installation() { remove(); }

    /// Removes the counters; waits for readings in progress. Requires: not called by the counter's
    /// own function.
    void remove() noexcept;

    /// The counters stay until the process ends.
    void keep() noexcept { m_what.reset(); }

private:
    std::shared_ptr<detail::installed_source> m_what;
};

/// Adds counters. Throws std::invalid_argument for a name that is malformed or taken. Thread safe.
installation install(std::unique_ptr<source> from);

struct user_counter {
    counter_kind kind = counter_kind::sum;  ///< not ratio
    std::string unit{};
    std::string help{};
};

/// Adds a counter of the program, one for the whole process. The function is called at each
/// reading, by any thread, also concurrently; if it throws, the counter is unavailable with that
/// text. It must not wait for tasks. Throws as the other overload.
///
///     std::atomic<long> steps = 0;
///     auto kept = quern::counters::install("/app/steps", [&] { return double(steps); },
///                                          {.help = "time steps done"});
///
/// Counters for --quern:print-counter or --quern:trace-counters must be installed before the
/// runtime starts.
installation install(std::string_view name, std::function<double()> read, user_counter about = {});

struct description {
    std::string name;  ///< in full: "/threads{locality#0/total}/time/average"
    counter_info info;
};

/// The counters whose names match. The runtime is that of the calling task, else the only one
/// alive, or the default one if none is alive. A pattern without instance matches totals. In
/// instances, `*` matches the total and every worker, `pool#*/…` pools. Throws
/// std::invalid_argument for a malformed pattern, std::logic_error if several runtimes are alive
/// and the choice is ambiguous. Thread safe.
///
///     for (const auto& c : quern::counters::discover("/threads{worker-thread#*}/time/*"))
///         std::puts(c.name.c_str());
std::vector<description> discover(std::string_view pattern);
std::vector<description> discover(std::string_view pattern, const runtime& of);

/// Every kind of counter once, for list-counters; without instances, so no runtime is needed.
/// Thread safe.
std::vector<counter_info> all_counters();

}  // namespace quern::counters
