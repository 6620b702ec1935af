// SPDX-License-Identifier: BSL-1.0
// All domains of the process, for counters and reports. A domain enters when it is made and leaves
// when it is destroyed: a lock of one of several lists each time, about 10 ns. Nothing that orders
// tasks reads it.
#pragma once

#include <quern/base/detail/intrusive_list.hpp>
#include <quern/base/detail/relaxed.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

/// What a domain has counted. Written by its owner, `early` by any thread; read by any.
struct domain_counts {
    relaxed<std::uint64_t> accesses = 0;   ///< registered
    relaxed<std::uint64_t> edges = 0;      ///< links to accesses that were not released
    relaxed<std::uint64_t> throttled = 0;  ///< waits of the creator at the limit of live tasks
    std::atomic<std::uint64_t> early{0};   ///< of tasks that waited for children: released before
};

/// The same of all domains that there have been, and what is there now.
struct dependence_totals {
    std::uint64_t accesses = 0;
    std::uint64_t edges = 0;
    std::uint64_t throttled = 0;
    std::uint64_t early = 0;
    std::uint64_t live = 0;  ///< tasks that are registered and not complete
};

/// Base of a domain.
class listed_domain : public list_link {
public:
    listed_domain() = default;
    listed_domain(const listed_domain&) = delete;
    listed_domain& operator=(const listed_domain&) = delete;

    domain_counts counts;

protected:
    ~listed_domain() = default;
    /// At the end of the constructor, and at the beginning of the destructor.
    void enter_list() noexcept;
    void leave_list() noexcept;

private:
    unsigned m_generation = 0;  ///< of the process that made it
};

/// Calls visit(domain, with) for each domain, under the lock of its list: it cannot be destroyed
/// meanwhile, and the function must not make or destroy one.
void for_each_domain(void (*visit)(listed_domain& domain, void* with), void* with);

/// Any thread. About 5 ns for each domain.
dependence_totals read_dependence_totals() noexcept;

}  // namespace quern::detail
