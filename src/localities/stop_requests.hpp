// SPDX-License-Identifier: BSL-1.0
// How a stop request reaches a call at another locality. Protocol: README.md, section "Stop
// tokens".
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/localities/detail/parcel.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace quern::localities::detail {

/// The caller's side: the stop tokens of a call, and, once it runs, what tells of their stops.
class lent_tokens {
public:
    explicit lent_tokens(token_list&& tokens) noexcept : m_tokens(std::move(tokens)) {}
    lent_tokens(const lent_tokens&) = delete;
    lent_tokens& operator=(const lent_tokens&) = delete;

    const token_list& tokens() const noexcept { return m_tokens; }
    /// From now on that locality, where the call runs, is told. Tells at once of those that have
    /// been stopped. Called once.
    void watch(job& of, int runs_at, std::uint64_t call);

private:
    struct tell_stop {
        job* of;
        int runs_at;
        std::uint64_t call;
        std::uint64_t token;
        void operator()() const noexcept;
    };

    token_list m_tokens;
    std::list<std::stop_callback<tell_stop>> m_watches;
};

/// The other side: the calls that run here and have stop tokens of their callers. Any thread.
class stoppable_calls {
public:
    using sources = std::vector<std::stop_source>;

    void add(int caller, std::uint64_t call, const sources& of_tokens);
    void remove(int caller, std::uint64_t call) noexcept;
    /// None: the call has ended.
    std::optional<std::stop_source> find(int caller, std::uint64_t call,
                                         std::uint64_t token) const noexcept;

private:
    using key = std::pair<int, std::uint64_t>;

    mutable quern::detail::spin_lock m_lock;
    std::map<key, sources> m_calls;
};

/// A parcel that is k_watch or k_stop.
void take_stop_message(arrived_parcel& parcel);

}  // namespace quern::localities::detail
