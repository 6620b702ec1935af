// SPDX-License-Identifier: BSL-1.0
// From the functions of a listener to the plain events of a policy's queue. Called on the threads
// of the events; must neither block nor allocate.
#include "policies/policy_state.hpp"

#include <algorithm>

namespace quern::adaptation::detail {

namespace {

using trace::event_kind;

policy_event event_of(event_kind kind, const trace::worker_event& e) noexcept {
    return {.kind = kind, .time_ns = e.time_ns, .duration_ns = e.duration_ns, .worker = e.worker};
}

policy_event event_of(event_kind kind, const trace::task_event& e) noexcept {
    policy_event made = event_of(kind, static_cast<const trace::worker_event&>(e));
    made.task = e.task;
    made.name = e.name;
    made.site = e.site;
    return made;
}

policy_event event_of(event_kind kind, std::string_view text) noexcept {
    policy_event made{.kind = kind, .time_ns = trace::event_clock_ns()};
    const std::size_t length = std::min(text.size(), made.text.size() - 1);
    std::copy_n(text.begin(), length, made.text.begin());
    return made;
}

}  // namespace

void policy_state::on_made(const trace::task_event& e) noexcept {
    add(event_of(event_kind::task_made, e));
}
void policy_state::on_start(const trace::task_event& e) noexcept {
    add(event_of(event_kind::task_start, e));
}
void policy_state::on_stop(const trace::task_event& e) noexcept {
    add(event_of(event_kind::task_stop, e));
}
void policy_state::on_suspend(const trace::task_event& e) noexcept {
    add(event_of(event_kind::task_suspend, e));
}
void policy_state::on_resume(const trace::task_event& e) noexcept {
    add(event_of(event_kind::task_resume, e));
}
void policy_state::on_worker_start(const trace::worker_event& e) noexcept {
    add(event_of(event_kind::worker_start, e));
}
void policy_state::on_worker_stop(const trace::worker_event& e) noexcept {
    add(event_of(event_kind::worker_stop, e));
}
void policy_state::on_park(const trace::worker_event& e) noexcept {
    add(event_of(event_kind::worker_park, e));
}
void policy_state::on_unpark(const trace::worker_event& e) noexcept {
    add(event_of(event_kind::worker_unpark, e));
}
/// Its policy may be called before the layer's own observer sees the runtime.
void policy_state::on_runtime_start(const trace::runtime_event& e) noexcept {
    if (!inherited()) {
        runtime_starts(e.which);
    }
    add({.kind = event_kind::runtime_start, .time_ns = e.time_ns});
}
void policy_state::on_runtime_stop(const trace::runtime_event& e) noexcept {
    add({.kind = event_kind::runtime_stop, .time_ns = e.time_ns});
}

void policy_state::on_sample(std::string_view name, double value) noexcept {
    policy_event made = event_of(event_kind::sample, name);
    made.value = value;
    add(made);
}

void policy_state::on_mark(std::string_view author, std::string_view) noexcept {
    add(event_of(event_kind::mark, author));
}

void policy_state::on_message(const trace::task_event& by,
                              const trace::message_info& what) noexcept {
    policy_event made = event_of(event_kind::message, by);
    made.message = what;
    add(made);
}

void policy_state::on_edge(const trace::task_event& by, const trace::edge_info& what) noexcept {
    policy_event made = event_of(event_kind::edge, by);
    made.edge = what;
    add(made);
}

void policy_state::on_custom(const trace::task_event& by, const trace::custom_event& what,
                             double value) noexcept {
    if (m_what.which != nullptr && m_what.which != &what) {
        return;
    }
    policy_event made = event_of(event_kind::custom, by);
    made.which = &what;
    made.value = value;
    add(made);
}

}  // namespace quern::adaptation::detail
