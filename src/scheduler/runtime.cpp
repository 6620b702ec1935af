// SPDX-License-Identifier: BSL-1.0
// From options to pools: reads the machine once per process, chooses the number of workers, binds
// them and tells each whom to steal from first.
#include <quern/scheduler/runtime.hpp>

#include <quern/base/nearest_match.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/topology/binding.hpp>
#include <quern/topology/distance.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>
#include <quern/topology/workers.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace quern {

namespace {

/// Reading the machine takes milliseconds and it does not change: once per process.
const topology::machine& this_machine() {
    static const topology::machine machine = topology::machine::detect();
    return machine;
}

unsigned resolve_workers(unsigned wanted) {
    if (wanted != 0) {
        return wanted;
    }
    return topology::choose_workers(this_machine(), topology::read_cpu_limits()).count;
}

topology::binding require_binding(const std::string& text) {
    const auto how = topology::parse_binding(text);
    if (!how) {
        throw std::invalid_argument("quern: binding: " + how.reason());
    }
    return *how;
}

/// Adds the variable to the message of what is wrong with its value.
template <class Check>
void check_variable(const char* name, const char* value, Check&& check) {
    try {
        check();
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("quern: " + std::string(name) + "='" + value +
                                    "': " + error.what());
    }
}

void bind_workers(detail::pool_description& description, const std::string& text) {
    const auto how = require_binding(text);
    if (how.policy == topology::binding_policy::none) {
        return;
    }
    const auto allowed = topology::allowed_pus(this_machine(), topology::read_cpu_limits());
    const auto units = topology::assign(this_machine(), allowed, how, description.workers);
    if (!units) {
        throw std::invalid_argument("quern: binding '" + text + "': " + units.reason());
    }
    if (this_machine().is_this_computer()) {  // an invented one has no units to run on
        description.processing_units.assign(units->begin(), units->end());
    }
    for (const auto& rings : topology::nearest_first(this_machine(), *units)) {
        auto& mine = description.victims.emplace_back();
        for (const topology::ring& ring : rings) {
            mine.emplace_back(ring.workers.begin(), ring.workers.end());
        }
    }
}

std::unique_ptr<detail::pool> make_pool(const pool_options& options) {
    detail::pool_description description;
    description.name = options.name;
    description.workers = resolve_workers(options.workers);
    description.policy = &find_scheduling_policy(options.policy);
    description.stacks = options.stacks;
    bind_workers(description, options.binding);
    return std::make_unique<detail::pool>(std::move(description));
}

unsigned threads_from(const char* text) {
    const std::string_view value(text);
    unsigned count = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (error != std::errc{} || end != value.data() + value.size() || count == 0 ||
        count > detail::k_max_workers) {
        throw std::invalid_argument("quern: QUERN_THREADS='" + std::string(value) +
                                    "': accepted is a whole number from 1 to 4096");
    }
    return count;
}

}  // namespace

runtime_options runtime_options::with_workers(unsigned count, std::string policy) {
    runtime_options options;
    options.pools.front().workers = count;
    options.pools.front().policy = std::move(policy);
    return options;
}

runtime_options runtime_options::from_environment() {
    runtime_options options;
    pool_options& pool = options.pools.front();
    if (const char* threads = std::getenv("QUERN_THREADS")) {
        pool.workers = threads_from(threads);
    }
    if (const char* policy = std::getenv("QUERN_POLICY")) {
        check_variable("QUERN_POLICY", policy, [&] { find_scheduling_policy(policy); });
        pool.policy = policy;
    }
    if (const char* binding = std::getenv("QUERN_BIND")) {
        check_variable("QUERN_BIND", binding, [&] { require_binding(binding); });
        pool.binding = binding;
    }
    return options;
}

unsigned pool_ref::workers() const noexcept { return m_pool->size(); }
std::string_view pool_ref::name() const noexcept { return m_pool->name(); }
std::string_view pool_ref::policy() const noexcept { return m_pool->policy().name; }
worker_totals pool_ref::totals() const noexcept { return m_pool->totals(); }

worker_totals pool_ref::worker(unsigned rank) const {
    if (rank >= m_pool->size()) {
        throw std::out_of_range("quern: pool '" + m_pool->name() + "' has no worker " +
                                std::to_string(rank) + "; it has " +
                                std::to_string(m_pool->size()));
    }
    return m_pool->at(rank).stats.read();
}

unsigned pool_ref::set_active_workers(unsigned count) const noexcept {
    return m_pool->set_active_workers(count);
}

unsigned pool_ref::active_workers() const noexcept {
    return m_pool->knobs.active_workers.load(std::memory_order_relaxed);
}

unsigned pool_ref::knob(std::string_view name) const {
    return detail::find_knob(name).get(*m_pool);
}

unsigned pool_ref::set_knob(std::string_view name, unsigned value) const {
    return detail::find_knob(name).set(*m_pool, value);
}

runtime::runtime(const runtime_options& options) {
    if (options.pools.empty()) {
        throw std::invalid_argument("quern: a runtime needs at least one pool");
    }
    for (const pool_options& wanted : options.pools) {
        for (const auto& other : m_pools) {
            if (other->name() == wanted.name) {
                throw std::invalid_argument("quern: two pools are named '" + wanted.name + "'");
            }
        }
        m_pools.push_back(make_pool(wanted));
    }
}

/// Tasks of one pool may start tasks on another: all must be at rest, and nothing have begun
/// between the first look and the last.
void runtime::wait_until_quiet() noexcept {
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
            p->wait_until_quiet();
        }
    } while (!std::all_of(m_pools.begin(), m_pools.end(), quiet) || begun() != before);
}

runtime::~runtime() {
    const detail::worker* here = detail::current_worker();
    const bool called_by_own_task =
        here != nullptr && std::any_of(m_pools.begin(), m_pools.end(),
                                       [&](const auto& p) { return p.get() == &here->home(); });
    if (called_by_own_task) {  // by exit() in a task: the workers go on until the process ends
        for (auto& p : m_pools) {
            static_cast<void>(p.release());
        }
        return;
    }
    wait_until_quiet();
    for (const auto& p : m_pools) {
        p->stop();
    }
    bool all_ended = true;
    for (const auto& p : m_pools) {
        all_ended = p->finish() && all_ended;
    }
    if (!all_ended) {  // whoever wakes an abandoned task some day must find its pool
        for (auto& p : m_pools) {
            static_cast<void>(p.release());
        }
    }
}

pool_ref runtime::default_pool() const noexcept { return pool_ref(*m_pools.front()); }

pool_ref runtime::pool(std::string_view name) const {
    std::string known;
    for (const auto& p : m_pools) {
        if (p->name() == name) {
            return pool_ref(*p);
        }
        known += " '" + p->name() + "'";
    }
    throw std::out_of_range("quern: no pool is named '" + std::string(name) + "'; there are" +
                            known);
}

runtime& runtime::default_instance() {
    static runtime instance;
    return instance;
}

pool_ref current_pool() {
    if (detail::worker* here = detail::current_worker()) {
        return pool_ref(here->home());
    }
    return runtime::default_instance().default_pool();
}

int current_worker_rank() noexcept {
    detail::worker* here = detail::current_worker();
    return here != nullptr ? static_cast<int>(here->rank()) : -1;
}

}  // namespace quern
