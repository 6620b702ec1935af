// SPDX-License-Identifier: BSL-1.0
// What reports say of the waits of members. They read copies of memory that changes meanwhile.
#include "core/hangs.hpp"
#include "core/locks.hpp"
#include "core/tasks.hpp"

#include <quern/base/detail/peek.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <cstddef>
#include <cstdio>

namespace quern::omp {

namespace {

using detail::wait_findings;

/// A copy of an object whose memory may be gone.
template <class T>
class copy_of {
public:
    explicit copy_of(const T* from) noexcept
        : m_is_there(detail::copy_if_there(m_bytes, from, sizeof(T))) {}
    explicit operator bool() const noexcept { return m_is_there; }
    const T* operator->() const noexcept { return reinterpret_cast<const T*>(m_bytes); }

private:
    alignas(T) std::byte m_bytes[sizeof(T)];
    bool m_is_there;
};

unsigned children_of(const task* of) noexcept {
    const copy_of<task> copy(of);
    return copy ? static_cast<std::uint32_t>(copy->word.load(std::memory_order_relaxed)) : 0;
}

void say_tasks(wait_findings& into, const member& who, std::uint64_t count) noexcept {
    const copy_of<team> of(who.of);
    std::snprintf(into.words.data(), into.words.size(),
                  "%llu task%s of member %u of a team of %u %s not ended",
                  static_cast<unsigned long long>(count), count == 1 ? "" : "s", who.number,
                  of ? of->size : 0, count == 1 ? "has" : "have");
}

void look_barrier(const void* copy, wait_findings& into) noexcept {
    const member& who = *static_cast<const member*>(copy);
    const copy_of<team> of(who.of);
    std::snprintf(into.words.data(), into.words.size(), "%u of %u members have come; as member %u",
                  of ? of->arrived.load(std::memory_order_relaxed) : 0, of ? of->size : 0,
                  who.number);
}

void look_tasks(const void* copy, wait_findings& into) noexcept {
    const member& who = *static_cast<const member*>(copy);
    say_tasks(into, who, children_of(who.current));
}

void look_group(const void* copy, wait_findings& into) noexcept {
    const member& who = *static_cast<const member*>(copy);
    const copy_of<task> present(who.current);
    const copy_of<task_group> group(present ? present->group : nullptr);
    say_tasks(into, who, group ? group->left.load(std::memory_order_relaxed) : 0);
}

void look_member(const void* copy, wait_findings& into) noexcept {
    const member& who = *static_cast<const member*>(copy);
    const copy_of<team> of(who.of);
    std::snprintf(into.words.data(), into.words.size(), "as member %u of a team of %u", who.number,
                  of ? of->size : 0);
}

/// The lock's word has the thread that holds it.
void look_lock(const void* copy, wait_findings& into) noexcept {
    const pid_t holder = static_cast<const word_lock*>(copy)->holder();
    const registered_wait* const its = wait_of(holder);
    if (its != nullptr && its->team_size != 0) {
        std::snprintf(into.words.data(), into.words.size(), "member %u of a team of %u has it",
                      its->member_number, its->team_size);
    }
    const auto& process = detail::process_registry::of_process();
    for (auto* o = process.outside.front(); o != nullptr; o = process.outside.after(*o)) {
        if (o->thread == holder) {
            into.holder = o->holder;
            return;
        }
    }
    std::snprintf(into.words.data(), into.words.size(), "thread %d has it",
                  static_cast<int>(holder));
}

/// Those of a member that are read here: a report copies no more than 1024 bytes.
constexpr std::size_t k_first_fields = 64;

constexpr detail::wait_kind kind_for(const char* name,
                                     void (*look)(const void*, wait_findings&) noexcept) {
    detail::wait_kind made{name};
    made.size = k_first_fields;
    made.look = look;
    made.is_passing = true;
    made.is_call = true;
    return made;
}

}  // namespace

const constinit detail::wait_kind k_barrier_wait = kind_for("a barrier:", look_barrier);
const constinit detail::wait_kind k_tasks_wait = kind_for("a barrier:", look_tasks);
const constinit detail::wait_kind k_taskwait_wait = kind_for("taskwait:", look_tasks);
const constinit detail::wait_kind k_taskgroup_wait =
    kind_for("the end of a taskgroup:", look_group);
const constinit detail::wait_kind k_depend_wait = kind_for("depend:", look_tasks);
const constinit detail::wait_kind k_member_wait = kind_for("another member:", look_member);
const constinit detail::wait_kind k_event_wait = kind_for("the event of a task:", look_member);
const constinit detail::wait_kind k_lock_wait{
    .name = "an OpenMP lock", .size = sizeof(word_lock), .look = look_lock, .is_lock = true};
const constinit detail::wait_kind k_critical_wait{
    .name = "a critical region", .size = sizeof(word_lock), .look = look_lock, .is_lock = true};

}  // namespace quern::omp
