// SPDX-License-Identifier: BSL-1.0
// Collects waits: the tasks and threads that wait, and the objects they wait for. Tasks run
// meanwhile, so anything but the registry's own entries may change or vanish at any moment. Notes
// are therefore atomics, and memory behind a pointer is copied by a system call, which fails on a
// stale address instead of crashing.
#include "diagnosis/waits/report_parts.hpp"
#include "diagnosis/waits/threads_seen.hpp"

#include <quern/base/detail/call_frames.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/record_copy.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::size_t k_largest_thing = 1024;
constexpr std::size_t k_deepest_outer = 16;  ///< nested inlined tasks shown
constexpr std::size_t k_most_calls = 48;     ///< per stack; Quern's own calls are the youngest
constexpr std::size_t k_most_walks = 1000;   ///< stacks walked per report: about 30 ms

/// False if it does not wait. The owner may resume during the read and wait for another object;
/// then kind and thing do not belong together. The check at the end detects most cases. The others
/// are harmless: `look` reads a copy of bytes and accepts any content.
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
        if (into.kind->explain != nullptr) {
            into.kind->explain(copy, into.thing, into.more);
        }
    }
    return note.kind() == into.kind && note.since() == since;
}

}  // namespace

void copy_text(const char* text, shown_name& into) noexcept {
    into = {};
    if (text == nullptr) {
        return;
    }
    // Byte by byte: the text may end just before unmapped memory.
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

seen_task seen(const task_description& task) {
    return {copy_text(task.name), task.id, task.site,
            reinterpret_cast<const void*>(static_cast<work::run_function>(task.entry))};
}

/// What waits for the task.
void explain(sighting& into, const task_description& task) {
    if (const explain_task how = explainer_of(task.entry)) {
        how(task.front_end, into.more);
    }
}

/// The call stack of a waiting task, across all the stacks that it has filled. Empty if it resumed
/// meanwhile.
std::vector<const void*> calls_of(const context& waits, const sighting& seen) {
    std::array<const void*, k_most_calls> calls{};
    std::size_t found = 0;
    const tick_count since = waits.waits.since();
    for (const context* part = &waits; part != nullptr; part = part->below()) {
        frame_registers from;
        if (part->registers(from)) {
            found += walk_calls(from, std::span(calls).subspan(found));
        }
    }
    const bool waits_still = waits.waits.kind() == seen.kind && waits.waits.since() == since;
    const void* const* const begin = calls.data();
    return std::vector<const void*>(begin, begin + (waits_still ? found : 0));
}

/// "2 operations are outstanding, without progress for 1.2 s; <the poller's own words>".
std::string describe_poller(const seen_poller& seen) {
    if (seen.outstanding == 0) {
        return "it is being asked, and has not answered yet";
    }
    std::array<char, 120> text{};
    std::snprintf(text.data(), text.size(), "%llu %s outstanding, without progress for %.1f s",
                  static_cast<unsigned long long>(seen.outstanding),
                  seen.outstanding == 1 ? "operation is" : "operations are", seen.seconds);
    return text.data() + (seen.words.empty() ? "" : "; " + seen.words);
}

/// One collection: the waits found, and the possible holders of the objects.
class search {
public:
    void tasks_of(pool& where, bool wanted) {
        for (context* c = where.contexts().youngest(); c != nullptr; c = c->made_before()) {
            m_contexts.insert(reinterpret_cast<std::uintptr_t>(c));
            m_holders.emplace(c->holder(), wanted ? sighting::k_running : sighting::k_other);
            sighting one;
            if (!wanted || !note_wait(one, c->waits, m_now)) {
                continue;
            }
            const int index = static_cast<int>(m_found.size());
            record_copy task(*c);
            one.task = seen(*task);
            one.where = where.name();
            if (m_walks < k_most_walks) {
                ++m_walks;
                if (!one.kind->is_running) {
                    one.calls = calls_of(*c, one);
                }
                explain(one, *task);
            }
            m_makers.emplace(task->result, maker{index, 0});
            add_outer(one, *task, index);
            m_found.push_back(std::move(one));
            holds_as_each_part(*c, index);
        }
    }

    /// Running tasks whose thread sleeps: in a std::mutex, in file input or output.
    void blocked_in(const pool& where) {
        for (std::uint32_t rank = 0; rank < where.size(); ++rank) {
            const worker_status& w = where.at(rank);
            const std::uint64_t begun = w.stats().activations.value();
            context* const running = w.running();
            if (w.stats().phase() != worker_phase::running || running == nullptr) {
                continue;
            }
            if (waits_outside(w.thread_id())) {
                continue;  // threads_outside() tells more of it
            }
            seen_thread thread = look_at_thread(w.thread_id());
            sighting one;
            one.what = sighted::blocked;
            record_copy task(*running);
            one.task = seen(*task);
            one.where = where.name();
            one.thread = w.thread_id();
            if (thread.sleeps && w.stats().activations.value() == begun &&
                w.stats().phase() == worker_phase::running) {
                const int index = static_cast<int>(m_found.size());
                one.doing = std::move(thread.doing);
                one.calls = std::move(thread.calls);
                explain(one, *task);
                m_makers.emplace(task->result, maker{index, 0});
                add_outer(one, *task, index);
                m_found.push_back(std::move(one));
                holds_as_each_part(*running, index);
            }
        }
    }

    void foreign(const std::vector<pid_t>& threads) {
        for (const pid_t each : threads) {
            seen_thread thread = look_at_thread(each);
            sighting& one = m_found.emplace_back();
            one.what = sighted::foreign;
            one.thread = each;
            one.thread_name = std::move(thread.name);
            one.doing = std::move(thread.doing);
            one.calls = std::move(thread.calls);
        }
    }

    void pollers_of(pool& where) {
        for (const seen_poller& each : where.time().pollers().outstanding()) {
            sighting& one = m_found.emplace_back();
            one.what = sighted::poller;
            one.task.name = each.name;
            one.where = where.name();
            one.doing = describe_poller(each);
        }
    }

    /// Those with a note, and one sighting for all the others.
    void coroutines_of(const pool& where) {
        const std::size_t before = m_found.size();
        for (const coroutine_note& each : where.coroutines().notes().all()) {
            const runnable* const who = each.who.load(std::memory_order_acquire);  // pairs: begin
            if (who != nullptr) {
                add_coroutine(where, *who, each);
            }
        }
        const auto all =
            static_cast<std::int64_t>(where.coroutines_away());  // may briefly be negative
        const auto noted = static_cast<std::int64_t>(m_found.size() - before);
        if (all > noted) {
            m_found.push_back(coroutine_in(where));
            m_found.back().count = static_cast<std::uint64_t>(all - noted);
        }
    }

    void threads_outside(const process_registry& process) {
        for (outside_wait* o = process.outside.front(); o != nullptr;
             o = process.outside.after(*o)) {
            if (o->event.is_set()) {
                continue;  // it has been woken, and waits for the registry's lock or a processor
            }
            sighting& one = m_found.emplace_back();
            one.what = sighted::outside;
            one.thread = o->thread;
            note_wait(one, o->note, m_now);
            std::array<const void*, k_most_calls> calls{};
            const std::size_t found = walk_calls(o->place, calls);
            one.calls.assign(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(found));
            const int index = static_cast<int>(m_found.size()) - 1;
            m_holders[o->holder] = index;
            tell_task_of(one, process, index);
        }
    }

    std::vector<sighting> result() && {
        for (sighting& each : m_found) {
            const auto made = m_makers.find(each.thing);
            each.is_result = each.thing != nullptr && made != m_makers.end();
            each.holder = each.is_result ? made->second.index : holder_of(each.found.holder);
            each.depth = each.is_result ? made->second.depth : 0;
        }
        return std::move(m_found);
    }

private:
    static bool waits_outside(pid_t thread) {
        const process_registry& process = process_registry::of_process();
        for (outside_wait* o = process.outside.front(); o != nullptr;
             o = process.outside.after(*o)) {
            if (o->thread == thread && !o->event.is_set()) {
                return true;
            }
        }
        return false;
    }

    /// The maker of a result: the task of a sighting, or, at a depth above 0, one of its outer
    /// tasks.
    struct maker {
        int index;
        std::size_t depth;
    };

    /// A worker whose task waits as a thread outside does, in a pool without a poller.
    void tell_task_of(sighting& one, const process_registry& process, int index) {
        for (pool_entry* p = process.pools.front(); p != nullptr; p = process.pools.after(*p)) {
            for (std::uint32_t rank = 0; !p->which.inherited() && rank < p->which.size(); ++rank) {
                const worker_status& w = p->which.at(rank);
                context* const running = w.thread_id() == one.thread ? w.running() : nullptr;
                if (running != nullptr) {
                    record_copy task(*running);
                    one.what = sighted::task;
                    one.task = seen(*task);
                    one.where = p->which.name();
                    explain(one, *task);
                    m_makers.emplace(task->result, maker{index, 0});
                    return;
                }
            }
        }
    }

    /// A task may hold locks under each of the contexts on which it continued.
    void holds_as_each_part(const context& youngest, int index) {
        for (const context* part = &youngest; part != nullptr; part = part->below()) {
            m_holders[part->holder()] = index;
        }
    }

    /// The tasks inside which it runs inline. Their records lie on its stack and may have vanished.
    void add_outer(sighting& to, const task_description& innermost, int index) {
        record_copy task;
        const task_description* at = innermost.outer;
        while (at != nullptr && at != &g_creator_aside && to.outer.size() < k_deepest_outer &&
               task.take(at)) {
            to.outer.push_back(seen(*task));
            m_makers.emplace(task->result, maker{index, to.outer.size()});
            at = task->outer;
        }
        to.is_inlined = at == &g_creator_aside;
    }

    /// Adds it unless it has resumed meanwhile.
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
            m_makers.emplace(result, maker{index, 0});
        }
    }

    static sighting coroutine_in(const pool& where) {
        sighting one;
        one.where = where.name();
        one.what = sighted::coroutine;
        return one;
    }

    int holder_of(std::uintptr_t holder) const {
        if (holder == 0) {
            return sighting::k_no_holder;
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
    std::unordered_map<const void*, maker> m_makers;  ///< of results
    std::size_t m_walks = 0;
};

/// `only`: tasks of other pools and outside threads are included only as holders; null: all are
/// included.
std::vector<sighting> look_for(const pool_list* only, const std::vector<pid_t>& foreign) {
    search all;
    const process_registry& process = process_registry::of_process();
    for (pool_entry* p = process.pools.front(); p != nullptr; p = process.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        const bool wanted = only == nullptr ||
                            std::any_of(only->begin(), only->end(),
                                        [p](const auto& each) { return each.get() == &p->which; });
        all.tasks_of(p->which, wanted);
        if (wanted) {
            all.coroutines_of(p->which);
            all.pollers_of(p->which);
        }
    }
    if (only == nullptr) {
        for (pool_entry* p = process.pools.front(); p != nullptr; p = process.pools.after(*p)) {
            if (!p->which.inherited()) {
                all.blocked_in(p->which);
            }
        }
        all.threads_outside(process);
        all.foreign(foreign);
    }
    return std::move(all).result();
}

}  // namespace

std::vector<sighting> collect_waits(const std::vector<pid_t>& foreign) {
    return look_for(nullptr, foreign);
}
std::vector<sighting> look_at(const pool_list& pools) { return look_for(&pools, {}); }

}  // namespace quern::detail
