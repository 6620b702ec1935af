// SPDX-License-Identifier: BSL-1.0
// The table of functions that explain tasks of the layers above.
#include <quern/scheduler/detail/explaining.hpp>

#include <quern/scheduler/detail/process_registry.hpp>

#include <array>
#include <mutex>

namespace quern::detail {

namespace {

struct explained_kind {
    work::run_function entry;
    explain_task how;
};

constinit std::array<explained_kind, 4> g_explained{};

}  // namespace

void explain_tasks_of(work::run_function entry, explain_task how) noexcept {
    const std::scoped_lock guard(process_registry::lock());
    for (explained_kind& each : g_explained) {
        if (each.entry == nullptr || each.entry == entry) {
            each = {entry, how};
            return;
        }
    }
}

explain_task explainer_of(work::run_function entry) noexcept {
    for (const explained_kind& each : g_explained) {
        if (each.entry != nullptr && each.entry == entry) {
            return each.how;
        }
    }
    return nullptr;
}

}  // namespace quern::detail
