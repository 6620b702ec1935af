// SPDX-License-Identifier: BSL-1.0
// The lists of domains, and the sums of those that are gone.
#include <quern/dependences/detail/domain_list.hpp>

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/dependences/detail/domain_shared.hpp>

#include <pthread.h>

#include <array>
#include <mutex>
#include <new>

namespace quern::detail {

namespace {

struct alignas(k_cache_line) domain_shard {
    spin_lock lock;
    intrusive_list<listed_domain> domains;
    dependence_totals gone;
};

/// Several, for the domains of nested tasks are made and destroyed on all workers. (guessed)
constexpr std::size_t k_shards = 16;

constinit std::array<domain_shard, k_shards> g_shards{};

domain_shard& shard_of(const listed_domain& one) noexcept {
    constexpr std::uintptr_t k_multiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
    constexpr int k_shift = 60;
    return g_shards[(reinterpret_cast<std::uintptr_t>(&one) * k_multiplier) >> k_shift];
}

/// In the child of a fork(): a thread that does not exist here may have held a lock.
void forget_domains() noexcept {
    for (domain_shard& each : g_shards) {
        ::new (&each.lock) spin_lock;
        each.domains.forget();
    }
}

[[maybe_unused]] const int k_fork_registered = ::pthread_atfork(nullptr, nullptr, forget_domains);

void add_counts(dependence_totals& to, const domain_counts& of) noexcept {
    to.accesses += of.accesses;
    to.edges += of.edges;
    to.throttled += of.throttled;
    to.early += of.early.load(std::memory_order_relaxed);
}

}  // namespace

void listed_domain::enter_list() noexcept {
    m_generation = fork_generation();
    domain_shard& shard = shard_of(*this);
    const std::scoped_lock lock(shard.lock);
    shard.domains.push_back(*this);
}

void listed_domain::leave_list() noexcept {
    if (m_generation != fork_generation()) {
        return;  // the list of the parent process
    }
    domain_shard& shard = shard_of(*this);
    const std::scoped_lock lock(shard.lock);
    intrusive_list<listed_domain>::erase(*this);
    add_counts(shard.gone, counts);
}

void for_each_domain(void (*visit)(listed_domain& domain, void* with), void* with) {
    for (domain_shard& shard : g_shards) {
        const std::scoped_lock lock(shard.lock);
        for (listed_domain* each = shard.domains.front(); each != nullptr;
             each = shard.domains.after(*each)) {
            visit(*each, with);
        }
    }
}

dependence_totals read_dependence_totals() noexcept {
    dependence_totals sum;
    for (domain_shard& shard : g_shards) {
        const std::scoped_lock lock(shard.lock);
        sum.accesses += shard.gone.accesses;
        sum.edges += shard.gone.edges;
        sum.throttled += shard.gone.throttled;
        sum.early += shard.gone.early;
        for (listed_domain* each = shard.domains.front(); each != nullptr;
             each = shard.domains.after(*each)) {
            add_counts(sum, each->counts);
            sum.live += static_cast<domain_shared*>(each)->live_from_outside();
        }
    }
    return sum;
}

}  // namespace quern::detail
