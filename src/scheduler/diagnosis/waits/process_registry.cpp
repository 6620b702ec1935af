// SPDX-License-Identifier: BSL-1.0
// Adds and removes entries of the process registry.
#include <quern/scheduler/detail/process_registry.hpp>

#include <quern/base/detail/clock.hpp>

#include <sys/syscall.h>
#include <unistd.h>

namespace quern::detail {

namespace {

constinit process_registry
    g_process_registry;  // no destructor: threads may wait until the process ends

pid_t this_thread() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace

process_registry& process_registry::of_process() noexcept { return g_process_registry; }

std::uintptr_t this_thread_outside() noexcept {
    alignas(std::uintptr_t) static thread_local const char identity = 0;
    return reinterpret_cast<std::uintptr_t>(&identity);
}

outside_wait::outside_wait(const external_event& what, const wait_reason& why,
                           const frame_registers& from) noexcept
    : event(what), place(from), thread(this_thread()), holder(this_thread_outside()) {
    note.begin(why, ticks());
    const std::scoped_lock guard(process_registry::lock());
    g_process_registry.outside.push_back(*this);
}

outside_wait::~outside_wait() {
    const std::scoped_lock guard(process_registry::lock());
    intrusive_list<outside_wait>::erase(*this);
}

harmless_thread::harmless_thread() noexcept : thread(this_thread()) {
    const std::scoped_lock guard(process_registry::lock());
    g_process_registry.harmless.push_back(*this);
}

harmless_thread::~harmless_thread() {
    const std::scoped_lock guard(process_registry::lock());
    intrusive_list<harmless_thread>::erase(*this);
}

pool_entry::pool_entry(pool& p) noexcept : which(p) {
    const std::scoped_lock guard(process_registry::lock());
    g_process_registry.pools.push_back(*this);
}

pool_entry::~pool_entry() {
    const std::scoped_lock guard(process_registry::lock());
    intrusive_list<pool_entry>::erase(*this);
}

}  // namespace quern::detail
