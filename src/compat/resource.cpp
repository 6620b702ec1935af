// SPDX-License-Identifier: BSL-1.0
// The partitioner: pools as a program describes them, converted to Quern's.
#include <quern/compat/hpx/errors.hpp>
#include <quern/compat/hpx/resource.hpp>
#include <quern/topology/machine.hpp>

#include <algorithm>
#include <numeric>

namespace hpx::resource {

namespace {

/// The machine as domains of cores of processing units.
std::vector<numa_domain> domains_of(const quern::topology::machine& m) {
    std::vector<numa_domain> domains;
    for (std::size_t node = 0; node < m.numa_nodes.size(); ++node) {
        std::vector<core> cores;
        for (std::size_t c = 0; c < m.cores.size(); ++c) {
            if (m.cores[c].numa_node == node) {
                cores.emplace_back(c,
                                   std::vector<pu>(m.cores[c].pus.begin(), m.cores[c].pus.end()));
            }
        }
        if (!cores.empty()) {
            domains.emplace_back(node, std::move(cores));
        }
    }
    return domains;
}

std::string policy_name(scheduling_policy p) {
    switch (p) {
        case scheduling_policy::local_priority_fifo:
            return "priority-local-fifo";
        case scheduling_policy::local_priority_lifo:
            return "priority-local-lifo";
        case scheduling_policy::static_:
        case scheduling_policy::static_priority:
            return "static";
        default:
            return {};
    }
}

}  // namespace

partitioner::partitioner(unsigned workers)
    : m_workers(workers),
      m_domains(domains_of(quern::topology::machine::detect())),
      m_pools{{.name = "default", .workers = 0, .policy = {}}} {}

void partitioner::create_thread_pool(const std::string& name, scheduling_policy policy) {
    if (name == get_default_pool_name()) {
        m_pools.front().policy = policy_name(policy);
        return;
    }
    const bool taken = std::any_of(m_pools.begin(), m_pools.end(),
                                   [&](const auto& each) { return each.name == name; });
    if (taken) {
        throw exception(error::bad_parameter, "there are two pools '" + name + "'");
    }
    m_pools.push_back({.name = name, .workers = 0, .policy = policy_name(policy)});
}

partitioner::wanted_pool& partitioner::at(const std::string& name) {
    const auto there = std::find_if(m_pools.begin(), m_pools.end(),
                                    [&](const auto& each) { return each.name == name; });
    if (there == m_pools.end()) {
        throw exception(error::bad_parameter, "there is no pool '" + name + "'");
    }
    return *there;
}

void partitioner::add_resource(const pu&, const std::string& pool, std::size_t threads) {
    at(pool).workers += threads;
}
void partitioner::add_resource(const pu& p, const std::string& pool, bool, std::size_t threads) {
    add_resource(p, pool, threads);
}
void partitioner::add_resource(const core& c, const std::string& pool, bool) {
    at(pool).workers += c.pus().size();
}
void partitioner::add_resource(const numa_domain& d, const std::string& pool, bool) {
    for (const core& each : d.cores()) {
        add_resource(each, pool);
    }
}

quern::runtime_options partitioner::options() const {
    quern::runtime_options made{.pools = {}};
    std::size_t taken = 0;
    for (std::size_t i = 1; i < m_pools.size(); ++i) {
        taken += m_pools[i].workers;
    }
    for (const wanted_pool& each : m_pools) {
        quern::pool_options pool{.name = each.name};
        const bool is_default = &each == &m_pools.front();
        if (!is_default || m_pools.size() > 1 || each.workers != 0) {
            std::size_t workers = each.workers;
            if (workers == 0) {
                workers = is_default && m_workers > taken ? m_workers - taken : 1;
            }
            pool.workers = static_cast<unsigned>(workers);
        }
        if (!each.policy.empty()) {
            pool.policy = each.policy;
        }
        made.pools.push_back(std::move(pool));
    }
    return made;
}

}  // namespace hpx::resource
