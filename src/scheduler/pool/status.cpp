// SPDX-License-Identifier: BSL-1.0
// What reports read of a pool, and the refusal of a pool of the parent process.
#include <quern/scheduler/detail/pool_status.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace quern::detail {

namespace {

constexpr const char* k_inherited =
    "was started before fork() and has no workers in the child process; start a runtime there";

}  // namespace

pool_status::pool_status(pool_description& of)
    : m_name(std::move(of.name)),
      m_policy(of.policy != nullptr ? of.policy : &scheduling_policies().front()),
      m_stacks(of.stacks),
      m_hang_report(of.hang_report),
      m_node_numbers(std::move(of.nodes)) {
    if (of.workers == 0 || of.workers > k_max_workers) {
        throw std::invalid_argument("quern: pool '" + m_name +
                                    "': workers = " + std::to_string(of.workers) +
                                    ", accepted are 1 to " + std::to_string(k_max_workers));
    }
}

void pool_status::refuse_inherited() const {
    throw std::logic_error("quern: pool '" + name() + "' " + k_inherited);
}

void pool_status::die_inherited() const noexcept {
    std::fprintf(stderr, "quern: pool '%s' %s\n", m_name.c_str(), k_inherited);
    std::abort();
}

worker_totals pool_status::totals() const noexcept {
    worker_totals sum;
    for (const auto& w : m_workers) {
        sum += w->stats().read();
    }
    return sum;
}

std::uint64_t pool_status::activations() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& w : m_workers) {
        sum += w->stats().activations.value(std::memory_order_acquire);
    }
    return sum;
}

std::uint64_t pool_status::contexts_away() const noexcept {
    std::uint64_t sum = 0;  // sum of numbers, some of which are negative
    for (const auto& w : m_workers) {
        sum += w->contexts_away().value();
    }
    return sum;
}

}  // namespace quern::detail
