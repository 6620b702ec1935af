// SPDX-License-Identifier: BSL-1.0
// Entering and leaving the census.
#include <quern/scheduler/census.hpp>

#include <quern/base/clock.hpp>

#include <sys/syscall.h>
#include <unistd.h>

namespace quern::detail {

namespace {

constinit census g_census;  // without a destructor: threads may wait to the very end

pid_t this_thread() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace

census& census::of_process() noexcept { return g_census; }

std::uintptr_t this_thread_outside() noexcept {
    alignas(std::uintptr_t) static thread_local const char identity = 0;
    return reinterpret_cast<std::uintptr_t>(&identity);
}

outside_wait::outside_wait(const external_event& what, const wait_reason& why,
                           const frame_registers& from) noexcept
    : event(what), place(from), thread(this_thread()), holder(this_thread_outside()) {
    note.begin(why, ticks());
    const std::scoped_lock guard(census::lock());
    g_census.outside.push_back(*this);
}

outside_wait::~outside_wait() {
    const std::scoped_lock guard(census::lock());
    intrusive_list<outside_wait>::erase(*this);
}

harmless_thread::harmless_thread() noexcept : thread(this_thread()) {
    const std::scoped_lock guard(census::lock());
    g_census.harmless.push_back(*this);
}

harmless_thread::~harmless_thread() {
    const std::scoped_lock guard(census::lock());
    intrusive_list<harmless_thread>::erase(*this);
}

pool_entry::pool_entry(pool& p) noexcept : which(p) {
    const std::scoped_lock guard(census::lock());
    g_census.pools.push_back(*this);
}

pool_entry::~pool_entry() {
    const std::scoped_lock guard(census::lock());
    intrusive_list<pool_entry>::erase(*this);
}

}  // namespace quern::detail
