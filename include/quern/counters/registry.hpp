// SPDX-License-Identifier: BSL-1.0
// Which counters there are in this process: those that Quern brings and those that the program
// installs. Used to install counters and to look for them; counter.hpp reads them.
#pragma once

#include <quern/counters/attach.hpp>
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

/// Keeps counters installed; when it is destroyed they are gone, and no reader reads them any more.
/// Movable.
class [[nodiscard]] installation {
public:
    installation() noexcept = default;
    explicit installation(std::shared_ptr<detail::installed_source> what) noexcept
        : m_what(std::move(what)) {}
    installation(installation&& from) noexcept = default;
    installation& operator=(installation&& from) noexcept;
    ~installation() { remove(); }

    /// The counters are gone when it returns: waits for readers that are just reading them. Must
    /// not be called by the counter's own function.
    void remove() noexcept;

    /// They stay until the process ends.
    void keep() noexcept { m_what.reset(); }

private:
    std::shared_ptr<detail::installed_source> m_what;
};

/// Adds counters. Throws std::invalid_argument for a name that is malformed or taken. Thread safe.
installation install(std::unique_ptr<source> from);

/// What is to be known of a counter of the program's own.
struct user_counter {
    counter_kind kind = counter_kind::sum;  ///< not ratio
    std::string unit{};
    std::string help{};
};

/// Adds a counter of the program's own, one for the whole process. The function is called by any
/// thread, by several at the same time, whenever somebody reads the counter; what it throws makes
/// the counter unavailable with that text. It must not wait for tasks. Throws as the other does.
///
///     std::atomic<long> steps = 0;
///     auto kept = quern::counters::install("/app/steps", [&] { return double(steps); },
///                                          {.help = "time steps done"});
///
/// Counters that --quern:print-counter is to print, or --quern:trace-counters to draw, must be
/// there before the runtime starts.
installation install(std::string_view name, std::function<double()> read, user_counter about = {});

/// A counter that may be read.
struct description {
    std::string name;  ///< in full: "/threads{locality#0/total}/time/average"
    counter_info info;
};

/// The counters whose names match, of the runtime that is meant: that of the calling task; else the
/// only one that lives; the default one where none does. A pattern without instance stands for
/// totals. In instances, `*` stands for the total and for every worker, `pool#*/…` for pools.
/// Throws std::invalid_argument for a malformed pattern, std::logic_error where several runtimes
/// live and none is meant. Thread safe.
///
///     for (const auto& c : quern::counters::discover("/threads{worker-thread#*}/time/*"))
///         std::puts(c.name.c_str());
std::vector<description> discover(std::string_view pattern);
std::vector<description> discover(std::string_view pattern, const runtime& of);

/// Every kind of counter once, as list-counters shows them; without instances, so no runtime is
/// needed. Thread safe.
std::vector<counter_info> all_counters();

}  // namespace quern::counters
