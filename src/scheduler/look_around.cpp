// SPDX-License-Identifier: BSL-1.0
// Collects who waits, and for what. Others may run meanwhile: whatever is not the census's own may
// change or go at any moment, so notes are atomics and everything behind a pointer is copied by the
// kernel, which does not die of an address that is gone.
#include "report_parts.hpp"

#include <quern/base/clock.hpp>
#include <quern/scheduler/census.hpp>
#include <quern/scheduler/pool.hpp>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::size_t k_largest_thing = 1024;
constexpr std::size_t k_deepest_outer = 16;  ///< tasks in each other's place, what is shown

/// False when it does not wait. The note is read once: its owner may go on and wait for another
/// thing meanwhile, and then kind and thing do not belong together. That is seen in most cases, and
/// does no harm in the others: a look reads a copy of bytes, and makes something of any.
bool note_wait(sighting& into, const wait_note& note, tick_count now) {
    const tick_count since = note.since();
    into.kind = note.kind();
    into.thing = note.thing();
    if (into.kind == nullptr) {
        return false;
    }
    into.seconds =
        1e-9 * ns_per_tick() *
        static_cast<double>(std::max<std::int64_t>(static_cast<std::int64_t>(now - since), 0));
    alignas(std::max_align_t) std::byte copy[k_largest_thing];
    if (into.kind->look != nullptr && into.kind->size <= sizeof copy &&
        copy_if_there(copy, into.thing, into.kind->size)) {
        into.kind->look(copy, into.found);
        into.found.words.back() = '\0';
    }
    return note.kind() == into.kind && note.since() == since;
}

}  // namespace

bool copy_if_there(void* to, const void* from, std::size_t bytes) noexcept {
    const iovec here{to, bytes};
    const iovec there{const_cast<void*>(from), bytes};
    // The bare call: a sanitizer that watched it would take it for an access of ours.
    return ::syscall(SYS_process_vm_readv, ::getpid(), &here, 1UL, &there, 1UL, 0UL) ==
           static_cast<long>(bytes);
}

void copy_text(const char* text, shown_name& into) noexcept {
    into = {};
    if (text == nullptr) {
        return;
    }
    // In pieces: the text may end just before memory that is not there.
    for (std::size_t i = 0; i + 1 < into.size(); ++i) {
        if (!copy_if_there(into.data() + i, text + i, 1) || into[i] == '\0') {
            into[i] = '\0';
            break;
        }
    }
}

std::string copy_text(const char* text) {
    shown_name copy;
    copy_text(text, copy);
    return copy.data();
}

namespace {

seen_task seen(const task_record& task) {
    return {copy_text(task.name), task.id, task.site,
            reinterpret_cast<const void*>(static_cast<work::run_function>(task.entry))};
}

/// One look at everybody: what is found, and who may be found as the holder of something.
class search {
public:
    void tasks_of(pool& where, bool wanted) {
        for (context* c = where.youngest_context(); c != nullptr; c = c->made_before()) {
            m_contexts.insert(reinterpret_cast<std::uintptr_t>(c));
            m_holders.emplace(c->holder(), wanted ? sighting::k_running : sighting::k_other);
            sighting one;
            if (!wanted || !note_wait(one, c->waits, m_now)) {
                continue;
            }
            const int index = static_cast<int>(m_found.size());
            const task_record& task = c->root().task;
            one.task = seen(task);
            one.where = where.name();
            m_makers.emplace(task.result, index);
            add_outer(one, task, index);
            m_found.push_back(std::move(one));
            for (const context* part = c; part != nullptr; part = part->below()) {
                m_holders[part->holder()] = index;  // it may hold locks as each
            }
        }
    }

    /// Those that are noted, and one sighting for all the others.
    void coroutines_of(const pool& where) {
        const std::size_t before = m_found.size();
        for (const coroutine_note& each : where.coroutines.all()) {
            const runnable* const who = each.who.load(std::memory_order_acquire);  // pairs: begin
            if (who != nullptr) {
                add_coroutine(where, *who, each);
            }
        }
        const auto all = static_cast<std::int64_t>(where.coroutines_away());  // for moments < 0
        const auto noted = static_cast<std::int64_t>(m_found.size() - before);
        if (all > noted) {
            m_found.push_back(coroutine_in(where));
            m_found.back().count = static_cast<std::uint64_t>(all - noted);
        }
    }

    void threads_outside(const census& everybody) {
        for (outside_wait* o = everybody.outside.front(); o != nullptr;
             o = everybody.outside.after(*o)) {
            sighting& one = m_found.emplace_back();
            one.thread = o->thread;
            note_wait(one, o->note, m_now);
            m_holders[o->holder] = static_cast<int>(m_found.size()) - 1;
        }
    }

    std::vector<sighting> result() && {
        for (sighting& each : m_found) {
            const auto maker = m_makers.find(each.thing);
            each.is_result = each.thing != nullptr && maker != m_makers.end();
            each.holder = each.is_result ? maker->second : holder_of(each.found.holder);
        }
        return std::move(m_found);
    }

private:
    /// Those in whose place it runs. Their records lie on its stack, and may be gone.
    void add_outer(sighting& to, const task_record& innermost, int index) {
        alignas(task_record) std::byte copy[sizeof(task_record)];
        const task_record* at = innermost.outer;
        while (at != nullptr && to.outer.size() < k_deepest_outer &&
               copy_if_there(copy, at, sizeof copy)) {
            const auto& task = *reinterpret_cast<const task_record*>(copy);
            to.outer.push_back(seen(task));
            m_makers.emplace(task.result, index);
            at = task.outer;
        }
    }

    /// Unless it has gone meanwhile.
    void add_coroutine(const pool& where, const runnable& who, const coroutine_note& note) {
        sighting one = coroutine_in(where);
        const std::uintptr_t holder = note.holder.load(std::memory_order_relaxed);
        const void* const result = note.result.load(std::memory_order_relaxed);
        const char* name = nullptr;
        if (note_wait(one, note.wait, m_now) && copy_if_there(&name, &who.name, sizeof name) &&
            copy_if_there(&one.task.site, &who.site, sizeof one.task.site) &&
            copy_if_there(&one.task.entry, note.frame, sizeof one.task.entry)) {
            one.task.name = copy_text(name);
            const int index = static_cast<int>(m_found.size());
            m_found.push_back(std::move(one));
            m_holders.emplace(holder, index);
            m_makers.emplace(result, index);
        }
    }

    static sighting coroutine_in(const pool& where) {
        sighting one;
        one.where = where.name();
        one.is_coroutine = true;
        return one;
    }

    int holder_of(std::uintptr_t holder) const {
        if (holder == 0) {
            return sighting::k_nobody;
        }
        const auto found = m_holders.find(holder);
        const bool was_task = m_contexts.count(context::of_holder(holder)) != 0;
        return found != m_holders.end()             ? found->second
               : was_task                           ? sighting::k_ended
               : (holder & k_coroutine_holder) != 0 ? sighting::k_coroutine
                                                    : sighting::k_outside;
    }

    const tick_count m_now = ticks();
    std::vector<sighting> m_found;
    std::unordered_map<std::uintptr_t, int> m_holders;  ///< to the index of their sighting
    std::unordered_set<std::uintptr_t> m_contexts;
    std::unordered_map<const void*, int> m_makers;  ///< of results, to the same
};

/// `only`: tasks of other pools and threads outside are known as holders at most; null: everybody.
std::vector<sighting> look_for(const pool_list* only) {
    search all;
    const census& everybody = census::of_process();
    for (pool_entry* p = everybody.pools.front(); p != nullptr; p = everybody.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        const bool wanted = only == nullptr ||
                            std::any_of(only->begin(), only->end(),
                                        [p](const auto& each) { return each.get() == &p->which; });
        all.tasks_of(p->which, wanted);
        if (wanted) {
            all.coroutines_of(p->which);
        }
    }
    if (only == nullptr) {
        all.threads_outside(everybody);
    }
    return std::move(all).result();
}

}  // namespace

std::vector<sighting> look_around() { return look_for(nullptr); }
std::vector<sighting> look_at(const pool_list& pools) { return look_for(&pools); }

}  // namespace quern::detail
