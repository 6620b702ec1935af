// SPDX-License-Identifier: BSL-1.0
// Registration, handles, calls and the end of policies. The function of a policy is called here and
// nowhere else, without any lock, on the thread for time.
#include <quern/adaptation/policy.hpp>

#include "log/process_object.hpp"
#include "log/totals.hpp"
#include "policies/policy_state.hpp"
#include "runtimes/knob_owners.hpp"

#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

namespace quern::adaptation {

namespace detail {

namespace {

using quern::detail::lock_of;
using quern::detail::off_the_clock;
using quern::detail::periodic_call;
using quern::detail::process_lock;

/// Requires: the lock `adaptation` is held.
struct policy_lists {
    std::vector<std::weak_ptr<policy_state>> all;
    std::vector<std::shared_ptr<policy_state>> released;
    bool exit_is_watched = false;
};

constinit process_object<policy_lists> g_lists{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_lists() { g_lists.forget(); }

policy_lists& the_lists() { return g_lists.get(); }

std::mutex& the_lock() noexcept { return lock_of(process_lock::adaptation); }

/// Of the calling thread. Other programs that use its processor meanwhile do not count.
std::chrono::nanoseconds processor_time() noexcept {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

/// Of the call that the thread is in: what does not count against its budget.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::chrono::nanoseconds tls_off_budget{};

/// The policy whose function the calling thread is in.
[[gnu::tls_model("initial-exec")]] constinit thread_local const policy_state* tls_called = nullptr;

void stop_released() {
    std::vector<std::shared_ptr<policy_state>> all;
    {
        const std::scoped_lock lock(the_lock());
        all.swap(the_lists().released);
    }
    for (auto& each : all) {
        policy_handle(std::move(each)).stop();
    }
}

void require(bool is_right, const std::string& name, const char* wrong) {
    if (!is_right) {
        throw std::invalid_argument("quern: policy '" + name + "' " + wrong);
    }
}

}  // namespace

off_budget::off_budget() noexcept : m_begun(processor_time()) {}
off_budget::~off_budget() { tls_off_budget += processor_time() - m_begun; }

policy_state::policy_state(policy_description what)
    : m_what(std::move(what)),
      m_bound(m_what.how.pool ? runtime_of(*m_what.how.pool) : nullptr),
      m_queue(m_what.period.count() > 0 ? 0 : m_what.how.queue) {}

void policy_state::start() {
    const bool is_periodic = m_what.period.count() > 0;
    m_due = is_periodic ? clock::now() + m_what.period : clock::time_point::max();
    auto made = std::make_unique<periodic_call>(
        "policy", m_due, [kept = shared_from_this()] { return kept->due(); });
    {
        const std::scoped_lock lock(m_parts);
        m_call = std::move(made);
    }
    listen_as_mode_says();
    const std::scoped_lock lock(the_lock());
    std::erase_if(the_lists().all, [](const auto& each) { return each.expired(); });
    the_lists().all.push_back(weak_from_this());
}

/// Step numbers as in README.md, "How a policy ends".
void policy_state::stop() noexcept {
    end();             // 1
    stop_listening();  // 2
    std::unique_ptr<periodic_call> last;
    {
        const std::scoped_lock lock(m_parts);
        last = std::move(m_call);
    }
    last.reset();         // 3
    forget_owner(*this);  // 4
}

void policy_state::hurry() noexcept {
    const std::scoped_lock lock(m_parts);
    if (m_call != nullptr && m_what.period.count() == 0) {
        m_call->hurry(clock::now());
    }
}

policy_state::clock::time_point policy_state::due() {
    listen_as_mode_says();
    if (m_what.period.count() > 0) {
        if (!has_ended()) {
            call(nullptr);
        }
        const auto late = std::max(clock::now() - m_due, clock::duration::zero());
        m_due += m_what.period * (1 + late / m_what.period);
    } else {
        while (!has_ended()) {
            const std::optional<policy_event> next = m_queue.take();
            if (!next) {
                break;
            }
            call(&*next);
        }
        log_dropped();
    }
    if (inherited() || !has_ended()) {
        return m_due;
    }
    stop_listening();
    forget_owner(*this);
    return clock::time_point::max();
}

void policy_state::call(const policy_event* event) {
    if (current_mode() == mode::off) {
        return;
    }
    const runtime_hold runtime(m_bound != nullptr ? m_bound : oldest_runtime());
    if (m_bound != nullptr && runtime.get() == nullptr) {
        return end();
    }
    m_counters.begin_call(runtime.shared());
    policy_call now{*this, event, runtime};
    run(now);
}

void policy_state::run(policy_call& now) {
    const off_the_clock may_take_long;
    std::string failure;
    const auto begun = clock::now();
    const auto processor_at_begin = processor_time();
    tls_off_budget = {};
    tls_called = this;
    try {
        policy_context context(now);
        m_what.work(context);
    } catch (const no_value_yet&) {
        failure.clear();  // there is nothing to decide by; perhaps next time
    } catch (const std::exception& error) {
        failure = std::string("it threw an exception: ") + error.what();
    } catch (...) {
        failure = "it threw an exception of no standard type";
    }
    tls_called = nullptr;
    if (inherited()) {
        return;  // the function has called fork(), and this is the child
    }
    const auto used = processor_time() - processor_at_begin - tls_off_budget;
    const std::chrono::nanoseconds took = clock::now() - begun;
    g_counts.policy_ns.fetch_add(static_cast<std::uint64_t>(took.count()),
                                 std::memory_order_relaxed);
    if (failure.empty() && used > m_what.how.budget && !has_ended()) {
        const auto words = [](std::chrono::nanoseconds of) {
            return quern::detail::duration_words(static_cast<double>(of.count()));
        };
        failure = "a call took " + words(used) + " of processor time, and its budget is " +
                  words(m_what.how.budget);
    }
    if (!failure.empty()) {
        fail(failure);
    }
}

void policy_state::fail(const std::string& why) noexcept {
    end();
    std::fprintf(stderr, "quern: policy '%s' is not called again: %s\n", name().c_str(),
                 why.c_str());
    try {
        log({.policy = name(), .subject = "registered", .before = 1, .after = 0, .why = why});
    } catch (const std::bad_alloc&) {
        return;  // stderr has it
    }
}

/// In mode off nothing listens, so that tasks run at full speed.
void policy_state::listen_as_mode_says() {
    if (m_what.events == trace::event_mask()) {
        return;
    }
    if (current_mode() == mode::off) {
        return stop_listening();
    }
    const std::scoped_lock lock(m_parts);
    if (!m_listening && !has_ended()) {
        const bool has_worker_start = m_what.events.has(trace::event_kind::worker_start);
        m_listening =
            trace::listen(*this, has_worker_start ? m_what.events | trace::event_kind::runtime_start
                                                  : m_what.events);
    }
}

/// After end() or in mode off. Waits for functions of the listener, which take no lock of this.
void policy_state::stop_listening() noexcept {
    std::optional<trace::listening> last;
    {
        const std::scoped_lock lock(m_parts);
        std::swap(last, m_listening);
    }
}

void policy_state::log_dropped() noexcept {
    const std::uint64_t dropped = m_dropped.load(std::memory_order_relaxed);
    if (dropped == 0 || m_dropped_is_logged) {
        return;
    }
    m_dropped_is_logged = true;
    try {
        log({.policy = name(),
             .subject = "dropped-events",
             .before = 0,
             .after = static_cast<double>(dropped),
             .why = "its queue of " + std::to_string(m_what.how.queue) +
                    " events was full; later ones are counted by /adaptation/dropped-events"});
    } catch (const std::bad_alloc&) {
        return;  // the counter has it
    }
}

/// Of the listener: on the thread of the event, which may be a worker at any place.
void policy_state::add(const policy_event& one) noexcept {
    if (inherited() || has_ended() || tls_called == this || !m_what.events.has(one.kind)) {
        return;
    }
    switch (m_queue.add(one)) {
        case event_queue::added::first:
            m_call->hurry(clock::now());
            break;
        case event_queue::added::behind_others:
            break;
        case event_queue::added::not_at_all:
            m_dropped.fetch_add(1, std::memory_order_relaxed);
            g_counts.dropped.fetch_add(1, std::memory_order_relaxed);
            break;
    }
}

void mode_may_have_changed() noexcept {
    std::vector<std::shared_ptr<policy_state>> all;
    try {
        const std::scoped_lock lock(the_lock());
        for (const auto& each : the_lists().all) {
            if (auto one = each.lock(); one != nullptr && !one->inherited()) {
                all.push_back(std::move(one));
            }
        }
    } catch (const std::bad_alloc&) {
        return;  // they look at the mode when they are next due
    }
    for (const auto& each : all) {
        each->hurry();
    }
}

}  // namespace detail

policy_handle::policy_handle(std::shared_ptr<detail::policy_state> of) noexcept
    : m_state(std::move(of)) {}

policy_handle& policy_handle::operator=(policy_handle&& from) noexcept {
    if (this != &from) {
        stop();
        m_state = std::move(from.m_state);
    }
    return *this;
}

void policy_handle::stop() noexcept {
    if (m_state == nullptr) {
        return;
    }
    if (!m_state->inherited()) {
        return m_state->stop();
    }
    // A thread of the parent may have been in it for ever: it stays as it is.
    static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(m_state)));
}

void policy_handle::release() {
    if (m_state == nullptr) {
        return;
    }
    const std::scoped_lock lock(detail::the_lock());
    auto& lists = detail::the_lists();
    if (!lists.exit_is_watched) {
        lists.exit_is_watched = std::atexit(detail::stop_released) == 0;
    }
    lists.released.push_back(std::move(m_state));
}

bool policy_handle::is_active() const noexcept {
    return m_state != nullptr && !m_state->inherited() && !m_state->has_ended();
}

namespace {

policy_handle start(detail::policy_description what) {
    using detail::require;
    if (what.name.empty()) {
        throw std::invalid_argument("quern: a policy needs a name");
    }
    require(what.work != nullptr, what.name, "needs a function");
    require(what.how.budget.count() > 0, what.name, "needs a budget above 0");
    auto state = std::make_shared<detail::policy_state>(std::move(what));
    policy_handle handle(state);
    state->start();
    return handle;
}

}  // namespace

policy_handle on(trace::event_mask events, std::string name, std::function<void(policy_context&)> f,
                 policy_options how) {
    detail::require(events != trace::event_mask(), name, "needs a kind of event");
    detail::require(how.queue > 0, name, "needs a queue of at least one event");
    return start({.name = std::move(name), .work = std::move(f), .how = how, .events = events});
}

policy_handle on(const trace::custom_event& which, std::string name,
                 std::function<void(policy_context&)> f, policy_options how) {
    detail::require(how.queue > 0, name, "needs a queue of at least one event");
    return start({.name = std::move(name),
                  .work = std::move(f),
                  .how = how,
                  .events = trace::event_kind::custom,
                  .which = &which});
}

policy_handle every(std::chrono::nanoseconds period, std::string name,
                    std::function<void(policy_context&)> f, policy_options how) {
    detail::require(period.count() > 0, name, "needs a period above 0");
    return start({.name = std::move(name), .work = std::move(f), .how = how, .period = period});
}

}  // namespace quern::adaptation
