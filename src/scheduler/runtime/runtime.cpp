// SPDX-License-Identifier: BSL-1.0
// From options to pools: reads the machine once per process and the settings once per runtime,
// makes the pools and ends them together.
#include <quern/scheduler/runtime.hpp>

#include "diagnosis/hangs/hang_detector.hpp"
#include "diagnosis/waits/report_parts.hpp"
#include "runtime/default_runtime.hpp"
#include "runtime/end_watch.hpp"
#include "runtime/observer_list.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/communication.hpp>
#include <quern/scheduler/detail/placement.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/settings/settings.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

namespace quern {

namespace {

constinit const topology::machine* g_machine = nullptr;

/// Read once per process: reading takes milliseconds, and the machine does not change. The part
/// that the process may use can change, and is read for every runtime.
/// Requires: the lock new_runtime is held.
const topology::machine& this_machine() {
    if (g_machine == nullptr) {
        g_machine = new topology::machine(topology::machine::detect());
    }
    return *g_machine;
}

[[gnu::destructor(detail::k_after_static_objects)]] void forget_machine() {
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::new_runtime));
    delete std::exchange(g_machine, nullptr);
}

/// A program's options for a pool override file and environment, but not the command line.
settings settings_for(const pool_options& wanted, bool is_first) {
    settings all = is_first ? current_settings() : settings();
    if (!is_first) {
        all.set("wake-fanout", current_settings().at("wake-fanout"));  // of the process
    }
    const std::string origin = "program, pool '" + wanted.name + "'";
    const auto say = [&](std::string_view name, std::string text) {
        all.set(name, {std::move(text), setting_source::program, origin});
    };
    if (wanted.workers) {
        say("threads", *wanted.workers == 0 ? "auto" : std::to_string(*wanted.workers));
    }
    if (wanted.policy) {
        say("policy", *wanted.policy);
    }
    if (wanted.binding) {
        say("bind", *wanted.binding);
    }
    if (wanted.stacks) {
        say("stack", std::string(k_stack_class_names.at(static_cast<std::size_t>(*wanted.stacks))));
    }
    if (wanted.active_workers) {
        say("active-workers", std::to_string(*wanted.active_workers));
    }
    if (wanted.spin_us) {
        say("spin-us", std::to_string(*wanted.spin_us));
    }
    if (wanted.steal_batch) {
        say("steal-batch", *wanted.steal_batch == 0 ? "auto" : std::to_string(*wanted.steal_batch));
    }
    return all;
}

stack_class stacks_of(const settings& chosen) {
    const auto* const name =
        std::find(k_stack_class_names.begin(), k_stack_class_names.end(), chosen.at("stack").text);
    return static_cast<stack_class>(name - k_stack_class_names.begin());
}

detail::hang_report_mode hang_report_of(const settings& chosen) {
    detail::hang_report_mode mode;
    mode.enabled = chosen.at("hang-report").text != "off";
    if (const auto seconds = chosen.number("hang-report")) {
        mode.patience = std::chrono::seconds(*seconds);
    }
    return mode;
}

/// The setting of the same name gives a knob's initial value.
void set_knobs(detail::pool& made, const settings& chosen) {
    for (const knob& each : all_knobs()) {
        const auto value = chosen.has(each.name) ? chosen.number(each.name) : std::nullopt;
        if (value) {
            detail::set_within(each, made, *value);
        }
    }
}

void require_worker(const detail::pool& of, unsigned rank) {
    if (rank >= of.size()) {
        throw std::out_of_range("quern: pool '" + of.name() + "' has no worker " +
                                std::to_string(rank) + "; it has " + std::to_string(of.size()));
    }
}

std::unique_ptr<detail::pool> make_pool(const pool_options& wanted, const settings& chosen) {
    detail::pool_description description;
    description.name = wanted.name;
    detail::place_workers(description, this_machine(), topology::read_cpu_limits(), chosen);
    description.policy = &find_scheduling_policy(chosen.at("policy").text);
    description.stacks = stacks_of(chosen);
    description.hang_report = hang_report_of(chosen);
    // From file and environment it applies to runtimes of every size, so larger values mean all
    // workers.
    if (chosen.at("active-workers").source >= setting_source::program &&
        chosen.number("active-workers").value_or(1) > description.workers) {
        chosen.refuse("active-workers", "accepted: a whole number from 1 to " +
                                            std::to_string(description.workers) +
                                            ", the workers of pool '" + wanted.name + "'");
    }
    auto made = std::make_unique<detail::pool>(std::move(description));
    set_knobs(*made, chosen);
    return made;
}

/// The pool of tasks that pass messages: its worker mostly sleeps, so it is not bound.
std::unique_ptr<detail::pool> make_communication_pool(const settings& chosen) {
    const pool_options wanted{.name = detail::k_communication_pool};
    settings all = chosen;  // also what holds for the process
    const auto say = [&all](std::string_view name, const char* text) {
        all.set(name, {text, setting_source::command_line, "pool 'communication'"});
    };
    say("threads", "1");
    say("active-workers", "all");
    say("bind", "none");
    say("policy", "work-stealing");
    return make_pool(wanted, all);
}

void require_new_name(const std::vector<std::unique_ptr<detail::pool>>& pools,
                      std::string_view name) {
    if (std::any_of(pools.begin(), pools.end(), [&](const auto& p) { return p->name() == name; })) {
        throw std::invalid_argument("quern: two pools are named '" + std::string(name) + "'");
    }
}

}  // namespace

runtime_options runtime_options::with_workers(unsigned count, std::optional<std::string> policy) {
    runtime_options options;
    options.pools.front().workers = count;
    options.pools.front().policy = std::move(policy);
    return options;
}

runtime_options runtime_options::per_numa_node() {
    runtime_options options;
    options.pools.clear();
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::new_runtime));
    for (const unsigned node : detail::usable_nodes(this_machine(), topology::read_cpu_limits())) {
        const std::string number = std::to_string(node);
        options.pools.push_back({.name = "node" + number, .binding = "node:" + number});
    }
    return options;
}

unsigned pool_ref::workers() const noexcept { return m_pool->size(); }
std::string_view pool_ref::name() const noexcept { return m_pool->name(); }
std::string_view pool_ref::policy() const noexcept { return m_pool->policy().name; }
worker_totals pool_ref::totals() const noexcept { return m_pool->totals(); }

worker_totals pool_ref::worker(unsigned rank) const {
    require_worker(*m_pool, rank);
    return m_pool->at(rank).stats().read();
}

std::optional<unsigned> pool_ref::numa_node_of(unsigned rank) const {
    require_worker(*m_pool, rank);
    return m_pool->numa_node_of(rank);
}

unsigned pool_ref::set_active_workers(unsigned count) const noexcept {
    return m_pool->set_active_workers(count);
}

unsigned pool_ref::active_workers() const noexcept {
    return m_pool->knobs().active_workers.load(std::memory_order_relaxed);
}

unsigned pool_ref::knob(std::string_view name) const {
    return detail::find_knob(name).get(*m_pool);
}

unsigned pool_ref::set_knob(std::string_view name, unsigned value) const {
    return detail::set_within(detail::find_knob(name), *m_pool, value);
}

detail::pool& pool_ref::get() const {
    m_pool->require_not_inherited();
    return *m_pool;
}

runtime::runtime(const runtime_options& options) {
    start(options);
    detail::default_runtime::adopt(*this);
}

runtime::runtime(as_default) { start({}); }

runtime::runtime(as_holder, std::vector<std::unique_ptr<detail::pool>>&& pools) noexcept
    : m_pools(std::move(pools)), m_is_holder(true) {}

void runtime::start(const runtime_options& options) {
    if (options.pools.empty()) {
        throw std::invalid_argument("quern: a runtime needs at least one pool");
    }
    const settings chosen = settings_for(options.pools.front(), true);
    detail::check_observers(chosen);
    {
        const std::scoped_lock lock(detail::lock_of(detail::process_lock::new_runtime));
        for (const pool_options& wanted : options.pools) {
            require_new_name(m_pools, wanted.name);
            const bool is_first = m_pools.empty();
            m_pools.push_back(make_pool(wanted, is_first ? chosen : settings_for(wanted, false)));
        }
        const detail::communication_plan plan = detail::plan_communication(chosen);
        detail::pool* runs_communication = nullptr;
        if (plan.has_thread) {
            require_new_name(m_pools, detail::k_communication_pool);
            m_pools.push_back(make_communication_pool(chosen));
            runs_communication = m_pools.back().get();
        }
        for (const auto& p : m_pools) {
            p->set_communication(runs_communication, plan.is_ordered);
        }
    }
    if (const auto how = hang_report_of(chosen); how.enabled && how.patience) {
        m_hang_detector = std::make_unique<detail::hang_detector>(*how.patience);
    }
    detail::tell_started(*this, chosen);
}

/// Tasks of one pool may start tasks on another. So all pools must be at rest, and no item may have
/// begun between the first check and the last.
void runtime::wait_until_quiet() noexcept {
    detail::end_watch watch(m_pools);
    const auto begun = [this] {
        std::uint64_t sum = 0;
        for (const auto& p : m_pools) {
            sum += p->activations();
        }
        return sum;
    };
    const auto quiet = [](const auto& p) { return p->quiet(); };
    std::uint64_t before = 0;
    do {
        before = begun();
        for (const auto& p : m_pools) {
            while (!p->wait_until_quiet_for(watch.pause())) {
                watch.look();
            }
        }
    } while (!std::all_of(m_pools.begin(), m_pools.end(), quiet) || begun() != before);
}

/// The caller is a task of this runtime that has called exit(), or the child of a fork(), which has
/// none of its workers.
bool runtime::cannot_end_here() const noexcept {
    const detail::worker* here = detail::current_worker();
    return std::any_of(m_pools.begin(), m_pools.end(), [&](const auto& p) {
        return p->inherited() ||
               (here != nullptr ? p.get() == &here->home() : p->spares().own_the_caller());
    });
}

void runtime::abandon(std::vector<std::unique_ptr<detail::pool>>& pools) noexcept {
    for (auto& p : pools) {
        static_cast<void>(p.release());
    }
}

runtime::~runtime() {
    const bool others_may_use_it = detail::default_runtime::withdraw(*this);
    if (cannot_end_here()) {
        if (!m_pools.front()->inherited() && !m_is_holder) {
            detail::tell_ends(*this);
        }
        abandon(m_pools);
        return;
    }
    wait_until_quiet();
    m_hang_detector.reset();
    if (!m_is_holder) {
        detail::tell_ends(*this);
    }
    if (others_may_use_it) {
        detail::default_runtime::keep(m_pools);
        return;
    }
    for (const auto& p : m_pools) {
        p->stop();
    }
    const auto left = detail::who_is_left(m_pools);  // while they can be found
    bool all_ended = true;
    for (const auto& p : m_pools) {
        all_ended = p->finish() && all_ended;
    }
    if (!all_ended) {
        detail::report_abandoned(left);
        abandon(m_pools);  // a later wake-up of an abandoned task accesses its pool
    }
}

pool_ref runtime::default_pool() const {
    m_pools.front()->require_not_inherited();
    return pool_ref(*m_pools.front());
}

std::vector<pool_ref> runtime::pools() const {
    std::vector<pool_ref> all;
    for (const auto& p : m_pools) {
        p->require_not_inherited();
        all.emplace_back(*p);
    }
    return all;
}

pool_ref runtime::pool(std::string_view name) const {
    std::string known;
    for (const auto& p : m_pools) {
        if (p->name() == name) {
            p->require_not_inherited();
            return pool_ref(*p);
        }
        known += " '" + p->name() + "'";
    }
    throw std::out_of_range("quern: no pool is named '" + std::string(name) + "'; there are" +
                            known);
}

runtime& runtime::default_instance() { return detail::default_runtime::instance(); }

pool_ref current_pool() {
    if (const detail::context* task = detail::task_root()) {
        return pool_ref(task->host().home());
    }
    return pool_ref(detail::default_runtime::first_pool());
}

int current_worker_rank() noexcept {
    detail::worker* here = detail::current_worker();
    return here != nullptr ? static_cast<int>(here->rank()) : -1;
}

}  // namespace quern
