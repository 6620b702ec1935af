// SPDX-License-Identifier: BSL-1.0
// Chooses the runtime for tasks created outside of any task: the program's own, if one was made
// while there was none, else one that is started for them. Used by runtime.cpp. Guarantees:
// docs/processes.md.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <memory>
#include <vector>

namespace quern::detail {

class default_runtime {
public:
    /// Makes it the default if there is none.
    static void adopt(runtime& made) noexcept;

    /// The runtime is about to end and is no longer the default. True: threads other than its maker
    /// have asked for it and may still use its pools, so the caller must keep() them running.
    static bool withdraw(const runtime& ending) noexcept;

    /// Takes over quiet pools until the process or the plug-in ends. They keep their workers.
    static void keep(std::vector<std::unique_ptr<pool>>& pools) noexcept;

    /// The first pool of the default runtime, which is started if there is none. Throws as
    /// runtime's constructor does. Thread safe.
    static pool& first_pool();
    static runtime& instance();

private:
    static bool is_there() noexcept;
    static void start();
    static void end_started() noexcept;
    static void end_kept() noexcept;
};

}  // namespace quern::detail
