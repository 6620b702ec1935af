// SPDX-License-Identifier: BSL-1.0
// fork_join and scope in virtual time: what quern/task/fork_join.hpp and scope.hpp do with the fork
// deque, repeated by hand. No exceptions, and never a fresh stack because one is nearly used up.
#pragma once

#include "worker.hpp"

#include <cstdint>
#include <deque>
#include <new>
#include <utility>
#include <vector>

namespace virtual_time {

/// Where the running task forks next.
struct fork_place {
    context* here;
    context::slot* slot;

    fork_place at(context::slot* other) const noexcept { return {here, other}; }
};

inline fork_place place_in(context& here) noexcept { return {&here, here.bottom()}; }

/// A forked child. F gets a fork_place and returns a number.
template <class F>
class child final : public entry {
public:
    explicit child(F f) : m_function(std::move(f)) {}

    context* run(context& here) override {
        static_cast<void>(static_cast<std::uint64_t>(closure));
        atomics::spend(&costs::loop_turn);
        m_result = m_function(place_in(here));
        return joined.complete();
    }
    std::uint64_t run_here(fork_place place) { return m_function(place); }
    std::uint64_t result() const noexcept { return m_result; }

private:
    F m_function;
    plain<std::uint64_t> m_result{0};
};

/// Runs `g` here and `f` on any worker. Returns the sum of what they return.
template <class F, class G>
std::uint64_t fork_join(fork_place place, F f, G g) {
    context& here = *place.here;
    child<F> forked(std::move(f));
    atomics::spend(&costs::fork);
    if (here.push(place.slot, &forked)) {
        here.push_trapped();
    }
    const std::uint64_t second = g(place.at(place.slot + 1));
    if (here.pop(place.slot) || here.join(place.slot)) {
        return second + forked.run_here(place);
    }
    return second + forked.result();
}

/// A scope whose children all have the function type F.
template <class F>
class scope {
public:
    explicit scope(fork_place place) : m_here(*place.here), m_first(place.slot), m_next(m_first) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    void spawn(F f) {
        if (m_here.has_private(k_plenty) || (m_here.no_room_at(m_next) && !make_room())) {
            m_here.offer_if_wanted();
            atomics::spend(&costs::inline_spawn);
            m_sum += f(fork_place{&m_here, m_next});
            return;
        }
        atomics::spend(&costs::queued_spawn);
        child<F>& forked = make_child(std::move(f));
        if (m_here.push(m_next++, &forked)) {
            m_here.push_trapped();
        }
    }

    /// Returns the sum of what all children have returned.
    std::uint64_t join_all() {
        while (m_next != m_first) {
            auto* const place = --m_next;
            child<F>& youngest = *m_young.back();
            const bool is_mine = m_here.pop(place) || m_here.join(place);
            m_here.offer_if_wanted();
            m_sum += is_mine ? youngest.run_here({&m_here, place}) : youngest.result();
            // The worker's cache gives the last freed block first.
            m_free.push_back(m_young.back());
            m_young.pop_back();
        }
        return m_sum;
    }

private:
    /// As fork_scope::k_plenty.
    static constexpr std::size_t k_plenty = 64;

    bool make_room() {
        join_all();
        return !m_here.no_room_at(m_next);
    }

    child<F>& make_child(F f) {
        if (m_free.empty()) {
            m_free.push_back(&m_blocks.emplace_back(f));
        }
        child<F>* const block = m_free.back();
        m_free.pop_back();
        block->~child<F>();
        new (block) child<F>(std::move(f));
        block->closure = 1;
        m_young.push_back(block);
        return *block;
    }

    context& m_here;
    context::slot* const m_first;
    context::slot* m_next;
    std::uint64_t m_sum = 0;
    std::deque<child<F>> m_blocks;
    std::vector<child<F>*> m_free;
    std::vector<child<F>*> m_young;
};

}  // namespace virtual_time
