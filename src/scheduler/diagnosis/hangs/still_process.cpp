// SPDX-License-Identifier: BSL-1.0
// Looks at the whole process for a layer above.
#include <quern/scheduler/detail/still_process.hpp>

#include "diagnosis/waits/report_parts.hpp"

#include <quern/base/detail/symbols.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <mutex>

namespace quern::detail {

namespace {

constexpr std::size_t k_most_named = 1000;  ///< a name may need a look at debug information

std::string name_of(const sighting& each) {
    if (each.what == sighted::outside) {
        return "thread " + std::to_string(each.thread);
    }
    const char* const kind = each.what == sighted::coroutine ? "coroutine" : "task";
    if (!each.task.name.empty()) {
        return std::string(kind) + " '" + one_line(each.task.name) + "'";
    }
    return each.task.site != nullptr
               ? std::string(kind) + " made in " + describe_site(each.task.site)
               : std::string("a ") + kind;
}

/// The one worker of a pool for communication waits as a thread outside does, for an event that is
/// not set. Until it is, nothing of that pool runs, whatever is queued there.
bool waits_outside(pool& which) {
    if (!which.is_for_communication() || which.size() != 1 || which.spares().any()) {
        return false;
    }
    const process_registry& all = process_registry::of_process();
    for (outside_wait* o = all.outside.front(); o != nullptr; o = all.outside.after(*o)) {
        if (o->thread == which.at(0).thread_id()) {
            return !o->event.is_set();
        }
    }
    return false;
}

}  // namespace

still_process look_whether_still(std::string_view poller) {
    const std::scoped_lock guard(process_registry::lock());
    const process_registry& all = process_registry::of_process();
    still_process seen{.is_still = true};
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        seen.version += p->which.activations() + p->which.time().pollers().progress();
        seen.is_still = seen.is_still &&
                        (p->which.at_rest(false, true) || waits_outside(p->which)) &&
                        !p->which.time().pollers().any_but(poller);
    }
    if (seen.is_still) {
        const auto may_act = threads_that_may_act();
        seen.is_still = may_act && may_act->empty();
    }
    return seen;
}

process_waits collect_process_waits() {
    std::vector<sighting> seen;
    {
        const std::scoped_lock guard(process_registry::lock());
        seen = collect_waits();
    }
    std::erase_if(seen, [](const sighting& each) { return each.what == sighted::poller; });
    process_waits result{.report = describe(seen)};
    for (const sighting& each : seen) {
        if (each.thing != nullptr && result.waiters.size() < k_most_named) {
            result.waiters.push_back({each.thing, name_of(each)});
        }
    }
    return result;
}

}  // namespace quern::detail
