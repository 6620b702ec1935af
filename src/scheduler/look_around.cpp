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

constexpr std::size_t k_longest_name = 63;  ///< of a task's name, what is shown
constexpr std::size_t k_largest_thing = 1024;

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

std::string copy_text(const char* text) {
    char copy[k_longest_name + 1] = {};
    if (text == nullptr) {
        return "";
    }
    // In pieces: the text may end just before memory that is not there.
    for (std::size_t i = 0; i < k_longest_name; ++i) {
        if (!copy_if_there(copy + i, text + i, 1) || copy[i] == '\0') {
            copy[i] = '\0';
            break;
        }
    }
    return copy;
}

namespace {

/// `only`: tasks of other pools and threads outside are known as holders at most; null: everybody.
std::vector<sighting> look_for(const pool_list* only) {
    std::vector<sighting> all;
    std::unordered_map<std::uintptr_t, int> known;  // holders to the index of their sighting
    std::unordered_set<std::uintptr_t> contexts;
    std::unordered_map<const void*, int> results;
    const tick_count now = ticks();
    const census& everybody = census::of_process();
    for (pool_entry* p = everybody.pools.front(); p != nullptr; p = everybody.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        const bool wanted = only == nullptr ||
                            std::any_of(only->begin(), only->end(),
                                        [p](const auto& each) { return each.get() == &p->which; });
        for (context* c = p->which.youngest_context(); c != nullptr; c = c->made_before()) {
            contexts.insert(reinterpret_cast<std::uintptr_t>(c));
            known.emplace(c->holder(), wanted ? sighting::k_running : sighting::k_other);
            sighting seen;
            if (!wanted || !note_wait(seen, c->waits, now)) {
                continue;
            }
            context& root = c->root();
            seen.name = copy_text(root.task.name);
            seen.id = root.task.id;
            seen.site = root.task.site;
            seen.entry =
                reinterpret_cast<const void*>(static_cast<work::run_function>(root.task.entry));
            seen.where = p->which.name();
            const int index = static_cast<int>(all.size());
            all.push_back(std::move(seen));
            results.emplace(root.task.result, index);
            for (const context* part = c; part != nullptr; part = part->below()) {
                known[part->holder()] = index;  // it may hold locks as each
            }
        }
    }
    for (outside_wait* o = only == nullptr ? everybody.outside.front() : nullptr; o != nullptr;
         o = everybody.outside.after(*o)) {
        sighting& seen = all.emplace_back();
        seen.thread = o->thread;
        note_wait(seen, o->note, now);
        known[o->holder] = static_cast<int>(all.size()) - 1;
    }
    for (sighting& each : all) {
        const auto maker = results.find(each.thing);
        if (each.thing != nullptr && maker != results.end()) {
            each.is_result = true;
            each.holder = maker->second;
        } else if (each.found.holder == k_coroutine_holder) {
            each.holder = sighting::k_coroutine;
        } else if (each.found.holder != 0) {
            const auto found = known.find(each.found.holder);
            const bool was_task = contexts.count(context::of_holder(each.found.holder)) != 0;
            each.holder = found != known.end() ? found->second
                          : was_task           ? sighting::k_ended
                                               : sighting::k_outside;
        }
    }
    return all;
}

}  // namespace

std::vector<sighting> look_around() { return look_for(nullptr); }
std::vector<sighting> look_at(const pool_list& pools) { return look_for(&pools); }

}  // namespace quern::detail
