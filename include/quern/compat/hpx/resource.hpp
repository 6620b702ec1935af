// SPDX-License-Identifier: BSL-1.0
// hpx::resource: the pools that a program makes before its runtime starts. A pool gets as many
// workers as resources were added to it; Quern chooses their places (pool_options::binding).
#pragma once

#include <quern/compat/hpx/executors.hpp>
#include <quern/scheduler/runtime.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpx::resource {

enum class scheduling_policy {
    user_defined,
    unspecified,
    local,
    local_priority_fifo,
    local_priority_lifo,
    static_,
    static_priority,
    abp_priority_fifo,
    abp_priority_lifo,
    shared_priority
};
enum partitioner_mode {
    mode_default = 0,
    mode_allow_oversubscription = 1,
    mode_allow_dynamic_pools = 2
};

/// The hardware, as numbers: the units of add_resource.
class pu {
public:
    explicit pu(std::size_t id) : m_id(id) {}
    std::size_t id() const noexcept { return m_id; }

private:
    std::size_t m_id;
};
class core {
public:
    core(std::size_t id, std::vector<pu> pus) : m_id(id), m_pus(std::move(pus)) {}
    std::size_t id() const noexcept { return m_id; }
    const std::vector<pu>& pus() const noexcept { return m_pus; }

private:
    std::size_t m_id;
    std::vector<pu> m_pus;
};
class numa_domain {
public:
    numa_domain(std::size_t id, std::vector<core> cores) : m_id(id), m_cores(std::move(cores)) {}
    std::size_t id() const noexcept { return m_id; }
    const std::vector<core>& cores() const noexcept { return m_cores; }

private:
    std::size_t m_id;
    std::vector<core> m_cores;
};

/// The argument of init_params::rp_callback.
class partitioner {
public:
    /// For a runtime with that many workers in all.
    explicit partitioner(unsigned workers);

    const std::vector<numa_domain>& numa_domains() const noexcept { return m_domains; }
    std::size_t get_number_requested_threads() const noexcept { return m_workers; }
    std::size_t get_number_requested_threads_limit() const noexcept { return m_workers; }
    const std::string& get_default_pool_name() const noexcept { return m_pools.front().name; }
    void set_default_pool_name(const std::string& name) { m_pools.front().name = name; }

    /// Throws hpx::exception(bad_parameter) if the name exists; add_resource() throws it if there
    /// is no such pool.
    void create_thread_pool(const std::string& name,
                            scheduling_policy policy = scheduling_policy::unspecified);
    void add_resource(const pu& p, const std::string& pool, std::size_t threads = 1);
    void add_resource(const pu& p, const std::string& pool, bool exclusive,
                      std::size_t threads = 1);
    void add_resource(const core& c, const std::string& pool, bool exclusive = true);
    void add_resource(const numa_domain& d, const std::string& pool, bool exclusive = true);
    template <class Resource>
    void add_resource(const std::vector<Resource>& all, const std::string& pool,
                      bool exclusive = true) {
        for (const Resource& each : all) {
            add_resource(each, pool, exclusive);
        }
    }

    /// The default pool gets the workers that no other pool has taken, but at least one.
    quern::runtime_options options() const;

private:
    struct wanted_pool {
        std::string name;
        std::size_t workers = 0;
        std::string policy;
    };
    wanted_pool& at(const std::string& name);

    unsigned m_workers;
    std::vector<numa_domain> m_domains;
    std::vector<wanted_pool> m_pools;  ///< the default one first
};

/// Of the running runtime. Throws hpx::exception(bad_parameter) if there is no such pool.
threads::thread_pool_base& get_thread_pool(std::string_view name);
threads::thread_pool_base& get_thread_pool(std::size_t index);
bool pool_exists(std::string_view name);
std::size_t get_num_thread_pools();
std::size_t get_num_threads();
std::size_t get_num_threads(std::string_view pool);
const std::string& get_pool_name(std::size_t index);

}  // namespace hpx::resource
