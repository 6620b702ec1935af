// SPDX-License-Identifier: BSL-1.0
// Which runtime takes the tasks that are made outside of any: the program's own, if one was made
// while there was none, else one that is started for them. Used by runtime.cpp. What is promised:
// docs/processes.md.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <memory>
#include <vector>

namespace quern::detail {

class default_runtime {
public:
    /// A runtime of the program's own has been made: it becomes the default one if there is none.
    static void adopt(runtime& made) noexcept;

    /// It is going to end: from now on it is not the default one. True: threads other than its
    /// maker have asked for it and may still use its pools, which must therefore go on: keep().
    static bool withdraw(const runtime& ending) noexcept;

    /// Takes over pools that have become quiet, until the process or the plug-in ends. They keep
    /// their workers.
    static void keep(std::vector<std::unique_ptr<pool>>& pools) noexcept;

    /// The first pool of the default runtime, which is started if there is none. Throws as
    /// runtime's constructor. Thread safe.
    static pool& first_pool();
    static runtime& instance();

private:
    static bool is_there() noexcept;
    static void start();
    static void end_started() noexcept;
    static void end_kept() noexcept;
};

}  // namespace quern::detail
