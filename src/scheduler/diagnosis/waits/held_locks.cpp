// SPDX-License-Identifier: BSL-1.0
// Warnings about locks held across a wait or beyond the end of a task.
#include <quern/scheduler/held_locks.hpp>

#include <quern/base/detail/fixed_text.hpp>
#include <quern/base/detail/symbols.hpp>

#include <unistd.h>

#include <atomic>

namespace quern::detail {

namespace {

constexpr int k_most_warnings = 10;  ///< per process: enough to show a repeated fault
constinit std::atomic<int> g_warnings{0};

void add_locks(fixed_text& text, int count) noexcept {
    text.add(static_cast<unsigned>(count)).add(count == 1 ? " lock" : " locks");
}

void warn(context& self, fixed_text& text) noexcept {
    if (const void* const site = self.root().task().site) {
        text.add("\n  made in ");
        add_site(text, site);
    }
    write_text(STDERR_FILENO, text.add("\n"));
    call_stack::here().write(STDERR_FILENO, spelling_of_names::demangled);
}

fixed_text begin_text(context& self) noexcept {
    fixed_text text;
    text.add("quern: ");
    if (const char* const name = self.root().task().name) {
        return text.add("task '").add(name).add("'");
    }
    return text.add("a task without a name");
}

}  // namespace

void check_held_locks(context& self, const wait_reason& why) noexcept {
    if (self.held_locks <= 0 || why.kind->is_lock ||
        g_warnings.fetch_add(1, std::memory_order_relaxed) >= k_most_warnings) {
        return;
    }
    fixed_text text = begin_text(self);
    text.add(" waits for ").add(why.kind->name).add(" while it holds ");
    add_locks(text, self.held_locks);
    text.add(", and who wants them waits as long (ignore_held_locks says that it is meant)");
    warn(self, text);
}

void check_left_locks(context& self) noexcept {
    if (std::exchange(self.held_locks, 0) <= 0 ||
        g_warnings.fetch_add(1, std::memory_order_relaxed) >= k_most_warnings) {
        return;
    }
    fixed_text text = begin_text(self);
    text.add(" has ended and left something locked");
    warn(self, text);
}

}  // namespace quern::detail
