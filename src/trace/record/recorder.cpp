// SPDX-License-Identifier: BSL-1.0
// The lifetime of recorders: starts and stops them, and passes them samples and marks.
#include <quern/trace/recorder.hpp>

#include "record/graph_log.hpp"
#include "record/listeners.hpp"
#include "record/recorder_state.hpp"
#include "record/registry.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/scheduler/detail/pool_view.hpp>
#include <quern/trace/listener.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::trace {

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;

/// The number of active recorders, for a cheap check.
constinit std::atomic<std::size_t> g_recording{0};

/// The active recorders. Requires: the lock trace is held.
std::vector<recorder::state*>& recorders() { return detail::registry::of_process().recorders; }

/// Requires: the lock trace is held.
void recorders_changed() noexcept {
    const std::vector<recorder::state*>& all = recorders();
    g_recording.store(all.size(), std::memory_order_relaxed);
    detail::record_messages(std::any_of(all.begin(), all.end(), [](const recorder::state* s) {
        return s->options.events_per_worker != 0;
    }));
}

void attach_all(recorder::state& s) {
    s.lost_before = detail::look_at_lost_time(s.threads());
    const std::scoped_lock lock(lock_of(process_lock::trace));
    recorders().push_back(&s);
    recorders_changed();
    for (detail::recorded_worker& w : s.workers) {
        w.before = w.home.worker(w.rank);
        w.blocked_before = quern::detail::read_blocked_ns(w.home.get().at(w.rank));
        w.thread_before = quern::detail::look_at_thread(w.home.get().at(w.rank));
        detail::hooks_of(w.home.get()).attach(w.rank, *w.events);
    }
}

/// Afterwards no thread writes to the tracks. Requires: the lock trace is held.
void detach_all(recorder::state& s) {
    for (detail::recorded_worker& w : s.workers) {
        quern::detail::pool& home = w.home.get();
        detail::pool_hooks& pool_hooks = detail::hooks_of(home);
        pool_hooks.detach(w.rank, *w.events);
        w.after = w.home.worker(w.rank);
        w.after -= w.before;
        w.thread = home.at(w.rank).thread_id();
        const auto blocked = quern::detail::read_blocked_ns(home.at(w.rank));
        if (blocked && w.blocked_before) {
            w.blocked_ns = std::max(*blocked - *w.blocked_before, 0.0);
        }
        const auto thread = quern::detail::look_at_thread(home.at(w.rank));
        if (thread && w.thread_before) {
            w.lost =
                quern::detail::lost_in(w.after, {thread->waited_ns - w.thread_before->waited_ns,
                                                 thread->ran_ns - w.thread_before->ran_ns});
        }
        detail::release_if_idle(pool_hooks);
    }
}

/// While the process was stopped its workers neither blocked nor lacked work: they lost the time.
void count_stopped_time(recorder::state& s) {
    const double stopped = s.made.stopped_ns;
    for (detail::recorded_worker& w : s.workers) {
        if (stopped <= 0.0 || !w.lost) {
            continue;
        }
        const double blocked = w.blocked_ns.value_or(0.0);
        const double in_tasks = std::min(blocked, stopped);
        if (in_tasks > 0.0) {
            w.stopped_share = in_tasks / blocked;
            w.blocked_ns = blocked - in_tasks;
        }
        w.lost->all_ns += stopped;
        w.lost->idle_ns += stopped - in_tasks;
    }
}

/// All pools of the runtime, or none if it has run a task.
std::vector<const quern::detail::pool*> pools_without_tasks(const runtime& rt) {
    std::vector<const quern::detail::pool*> all;
    for (const pool_ref& each : rt.pools()) {
        if (each.totals().tasks != 0) {
            return {};
        }
        all.push_back(&each.get());
    }
    return all;
}

/// Takes the recorder out of the log. The pools may be gone afterwards, their addresses suffice.
task_graph take_graph(recorder::state& s) {
    const std::optional<std::uint64_t> mark = std::exchange(s.graph_mark, std::nullopt);
    if (!mark) {
        return {};
    }
    std::vector<const quern::detail::pool*> pools;
    for (const detail::recorded_worker& w : s.workers) {
        if (w.rank == 0) {
            pools.push_back(&w.home.get());
        }
    }
    return detail::graph_log::of_process().end(*mark, pools);
}

std::uint64_t steady_now_ns() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

communication between(const communication& before, const communication& after) noexcept {
    return {after.sent - before.sent, after.received - before.received, after.bytes - before.bytes,
            after.waiting_ns - before.waiting_ns, after.hidden_ns - before.hidden_ns};
}

/// True: this call ended the recording.
bool end(recorder::state& s) {
    std::shared_ptr<detail::sampler> system;
    std::vector<const quern::detail::pool*> idle;
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        std::erase(recorders(), &s);
        recorders_changed();
        if (s.rt == nullptr || s.generation != quern::detail::fork_generation()) {
            return false;
        }
        detach_all(s);
        idle = pools_without_tasks(*s.rt);
        s.rt = nullptr;
        system = std::move(s.system);
    }
    s.made.duration_ns = s.now_ns();
    s.made.ended_ns = steady_now_ns();
    s.made.job = job_of_process();
    if (detail::knows_communication()) {
        s.made.talk = between(s.talk_before, detail::communication_now());
    }
    s.made.graph = take_graph(s);
    s.made.taken = detail::between(s.lost_before, detail::look_at_lost_time(s.threads()));
    if (system != nullptr) {
        for (series& each : system->stop()) {
            s.made.counters.push_back(std::move(each));
        }
        s.made.stopped_ns = system->stopped_ns();
        count_stopped_time(s);
    }
    if (!idle.empty()) {
        s.made.why_no_task = quern::detail::why_no_task(idle);
    }
    detail::assemble(s);
    return true;
}

}  // namespace

namespace {

/// Null if no events are requested.
std::shared_ptr<const detail::wanted_events> wanted_of(const recorder_options& options) {
    auto kinds = topology::find_events(options.events);
    if (!kinds) {
        throw std::invalid_argument("quern: recorder_options::events: " + kinds.reason());
    }
    if (kinds->empty()) {
        return nullptr;
    }
    auto kernel = options.event_kernel != nullptr ? options.event_kernel
                                                  : topology::event_kernel::of_machine();
    return std::make_shared<const detail::wanted_events>(
        detail::wanted_events{*kinds, std::move(kernel)});
}

}  // namespace

std::uint64_t recorder::state::now_ns() const {
    return static_cast<std::uint64_t>(static_cast<double>(quern::detail::ticks() - start) *
                                      quern::detail::ns_per_tick());
}

/// Kernel thread ids; 0 for a thread that has not begun or is no longer known.
std::vector<std::int32_t> recorder::state::threads() const {
    std::vector<std::int32_t> all;
    for (const detail::recorded_worker& w : workers) {
        all.push_back(rt != nullptr ? w.home.get().at(w.rank).thread_id() : w.thread);
    }
    return all;
}

recorder::recorder(runtime& which, const recorder_options& options)
    : m_state(std::make_unique<state>(which, options)) {
    if (options.sample > detail::sampling::k_most) {
        throw std::invalid_argument("quern: recorder_options::sample is " +
                                    std::to_string(options.sample) + "; accepted: 0 to " +
                                    std::to_string(detail::sampling::k_most));
    }
    const std::shared_ptr<const detail::wanted_events> measured = wanted_of(options);
    quern::detail::attach_trace();
    state& s = *m_state;
    s.generation = quern::detail::fork_generation();
    detail::describe_run(s.made, options.chosen);
    s.options.chosen = nullptr;  // valid during this call only
    s.options.events = {};
    s.options.counters = {};
    s.talk_before = detail::communication_now();
    s.start = quern::detail::ticks();
    s.made.begun_ns = steady_now_ns();
    for (const pool_ref pool : which.pools()) {
        for (unsigned rank = 0; rank < pool.workers(); ++rank) {
            s.workers.push_back(
                {.home = pool,
                 .rank = rank,
                 .events = std::make_unique<detail::track>(s.start, options.events_per_worker,
                                                           options.sample, measured)});
        }
    }
    if (options.samples_system && options.events_per_worker != 0) {
        s.system = std::make_shared<detail::sampler>(which, options.counters);
    }
    if (options.dependences) {
        s.graph_mark = detail::graph_log::of_process().begin();
    }
    try {
        attach_all(s);
    } catch (...) {
        end(s);
        throw;
    }
}

recorder::~recorder() {
    if (m_state == nullptr) {
        return;
    }
    if (m_state->generation != quern::detail::fork_generation()) {
        static_cast<void>(
            m_state.release());  // in a forked child: its sampling thread does not exist here
        return;
    }
    end(*m_state);
}

recorder::recorder(recorder&&) noexcept = default;

recorder& recorder::operator=(recorder&& other) noexcept {
    std::swap(m_state, other.m_state);
    return *this;
}

recording recorder::stop() {
    if (m_state == nullptr) {
        return {};
    }
    end(*m_state);
    return std::exchange(m_state->made, {});
}

/// Without the lock, since it waits for code of the program.
void detail::look_last(runtime& which) noexcept {
    std::vector<std::shared_ptr<sampler>> all;
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        for (const recorder::state* const s : recorders()) {
            if (s->rt == &which && s->system != nullptr) {
                all.push_back(s->system);
            }
        }
    }
    for (const auto& each : all) {
        each->finish();
    }
}

void detail::keep_outside(const message_info& what) noexcept {
    if (g_recording.load(std::memory_order_relaxed) == 0) {
        return;
    }
    const std::scoped_lock lock(lock_of(process_lock::trace));
    for (recorder::state* const s : recorders()) {
        std::vector<passed_message>& all = s->made.outside;
        if (s->options.events_per_worker == 0) {
            continue;
        }
        if (all.size() >= s->options.events_per_worker) {
            ++s->made.outside_dropped;
            continue;
        }
        try {
            all.push_back({.at_ns = s->now_ns(),
                           .is_sent = what.is_sent,
                           .peer = what.peer,
                           .tag = what.tag,
                           .bytes = what.bytes,
                           .context = what.context,
                           .order = what.order});
        } catch (const std::bad_alloc&) {
            ++s->made.outside_dropped;
        }
    }
}

void detail::end_recordings(runtime& which) noexcept {
    for (;;) {
        recorder::state* found = nullptr;
        {
            const std::scoped_lock lock(lock_of(process_lock::trace));
            for (recorder::state* const s : recorders()) {
                found = s->rt == &which ? s : found;
            }
        }
        if (found == nullptr || !end(*found)) {
            return;
        }
    }
}

void sample(std::string_view name, double value) {
    if (g_recording.load(std::memory_order_relaxed) != 0) {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        for (recorder::state* const s : recorders()) {
            std::vector<series>& all = s->made.counters;
            auto at = std::find_if(all.begin(), all.end(),
                                   [&](const series& each) { return each.name == name; });
            if (at == all.end()) {
                at = all.insert(all.end(), {std::string(name), "", {}});
            }
            at->points.emplace_back(s->now_ns(), value);
        }
    }
    detail::tell_sample(name, value);
}

void mark(decision made) {
    if (g_recording.load(std::memory_order_relaxed) != 0) {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        for (recorder::state* const s : recorders()) {
            made.at_ns = s->now_ns();
            s->made.decisions.push_back(made);
        }
    }
    detail::tell_mark(made.who, made.what);
}

void mark(std::string_view who, std::string_view what) {
    mark({.who = std::string(who), .what = std::string(what)});
}

void mark(std::string_view text) { mark("program", text); }

}  // namespace quern::trace
