// SPDX-License-Identifier: BSL-1.0
// Drives the hooks of recordings for what members do. Protocol: ../README.md, section "Observing".
#include "core/observing.hpp"

#include "core/hangs.hpp"
#include "core/tasks.hpp"

#include <quern/counters/detail/live.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/settings/settings.hpp>
#include <quern/trace/detail/attach.hpp>

#include <cstdio>
#include <exception>
#include <memory>

namespace quern::omp {

constinit std::atomic<bool> g_is_observed{false};

namespace {

bool settings_ask_for_it() {
    detail::attach_trace();
    detail::allow_looking_in();
    const quern::settings chosen = current_settings();
    for (const char* const each : {"trace", "report", "profile", "calibration", "graph"}) {
        if (!chosen.at(each).text.empty()) {
            return true;
        }
    }
    const bool is_live =
        chosen.at("live").source != setting_source::fallback && chosen.at("live").text != "off";
    return is_live || chosen.number("metrics-port").has_value();
}

/// Read once, before there are tasks.
bool ask_settings() noexcept {
    try {
        const bool asked = settings_ask_for_it();
        if (asked) {
            // The layer's own look for hangs knows of waiting members; the runtime's does not.
            read_hang_setting();
            set_setting("hang-report", "off", "the layer omp");
        }
        return asked;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\nquern: nothing is recorded\n", error.what());
        return false;
    }
}

}  // namespace

std::unique_ptr<runtime> make_observed_runtime(unsigned workers) {
    static const bool is_asked = ask_settings();
    g_is_observed.store(is_asked, std::memory_order_relaxed);
    if (!is_asked) {
        return nullptr;
    }
    runtime_options options;
    pool_options& only = options.pools.front();
    only.name = "openmp";
    only.workers = workers;
    only.policy = "work-stealing";
    only.binding = "none";
    only.stacks = stack_class::large;
    only.active_workers = workers;
    return std::make_unique<runtime>(options);
}

// -- tasks and regions ---------------------------------------------------------------------------

namespace {

const detail::hooks* hooks_of(detail::worker& on) noexcept { return on.home().hooks(); }

/// What recordings see of a task that is in no queue.
detail::context* never_runs(detail::work&) noexcept { return nullptr; }

template <class Body>
void run_inside(const detail::runnable& item, Body&& body) noexcept {
    detail::inline_scope around(detail::current_context());
    around.begin(item);
    {
        const detail::task_body timed(detail::task_body::part_of::first);
        body();
    }
    around.end();
}

}  // namespace

void call_observed_task(void (*body)(void*), void* argument) noexcept {
    detail::runnable unqueued(never_runs);
    unqueued.site = place_of(body);
    unqueued.name = k_task_name;
    run_inside(unqueued, [body, argument] { call_task_body(body, argument); });
}

void run_observed_task(member& here, deferred_task& next, task* before) noexcept {
    if (next.site == nullptr) {
        next.site = place_of(next.body);
    }
    next.name = k_task_name;
    run_inside(next, [&here, &next, before] {
        call_task_body(next.body, next.argument);
        end_body(here, next, before);
    });
}

void run_observed_member(member& one) noexcept {
    detail::runnable part(never_runs);
    part.site = one.of->site;
    part.name = k_region_name;
    run_inside(part, [&one] { run_member(one); });
}

void note_made_at(deferred_task& made, const void* site) noexcept { made.site = site; }

void tell_ready(member& here, deferred_task& made) noexcept {
    detail::worker& on = *here.at;
    if (const detail::hooks* const h = hooks_of(on)) {
        h->made_ready(*h, on.home(), made);
    }
}

// -- waits ---------------------------------------------------------------------------------------

void noted_wait::begin(const detail::wait_reason* why) noexcept {
    detail::worker* const on = detail::current_worker();
    if (on == nullptr) {
        return;  // a thread outside of all regions
    }
    m_on = on;
    m_why = why;
    on->stats().look();
    if (const detail::hooks* const h = hooks_of(*on)) {
        h->suspends(*h, *on);
        m_since = on->stats().since();
    }
    on->stats().begin_idle();
}

void noted_wait::end() noexcept {
    detail::worker& on = *m_on;
    on.stats().end_idle();
    on.stats().is_now(on.has_guest() ? worker_phase::managing : worker_phase::running);
    const detail::hooks* const h = m_since != 0 ? hooks_of(on) : nullptr;
    if (h == nullptr) {
        return;
    }
    detail::context& here = *detail::current_context();
    here.ready.at = m_why != nullptr ? on.stats().since() : 0;
    h->item_begins(*h, on, here, nullptr);
    if (m_why != nullptr) {
        h->waited(*h, on, *m_why, m_since);
    }
    here.ready = {};
}

}  // namespace quern::omp
