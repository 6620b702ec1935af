// SPDX-License-Identifier: BSL-1.0
// The two words by which dependences are kept: the successors of an access, and the number of what
// a successor still waits for. Protocol and proof sketch: src/dependences/README.md. Explored
// exhaustively in tests/model/dependences_*test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <algorithm>
#include <cstdint>

namespace quern::detail {

/// The successors of an access, as a stack of links through `Link::next`, until the access is
/// released. One thread at a time pushes; one thread releases, once. Before that parts of it may be
/// released: then links are taken and pushed under a lock.
template <class Atomics, class Link>
class successor_stack {
public:
    /// False: the access has been released, and its effects are visible to the caller; or in part:
    /// push_partly() is to be called. Otherwise the releasing thread gets the link, perhaps before
    /// this returns.
    bool push(Link& link) noexcept {
        std::uintptr_t seen = m_word.load(std::memory_order_acquire);  // pairs with release
        do {
            if ((seen & (k_released | k_partly)) != 0) {
                return false;
            }
            link.next = reinterpret_cast<Link*>(seen);
        } while (!m_word.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(&link),
                                               std::memory_order_release,    // pairs with release
                                               std::memory_order_acquire));  // pairs with release
        return true;
    }

    /// The same when a part has been released and the link must wait, as the caller knows under the
    /// lock of take_partly(). Any thread. False: the access has been released.
    bool push_partly(Link& link) noexcept {
        std::uintptr_t seen = m_word.load(std::memory_order_acquire);  // pairs with release
        do {
            if (seen == k_released) {
                return false;
            }
            link.next = reinterpret_cast<Link*>(seen & ~k_partly);
        } while (!m_word.compare_exchange_weak(
            seen, reinterpret_cast<std::uintptr_t>(&link) | k_partly,
            std::memory_order_release,    // pairs with release and take_partly
            std::memory_order_acquire));  // pairs with release
        return true;
    }

    /// A part has been released: returns all links, the oldest first, of which those that must wait
    /// are to be pushed again. None if the access has been released. Under a lock.
    Link* take_partly() noexcept {
        std::uintptr_t seen = m_word.load(std::memory_order_acquire);  // pairs with release
        do {
            if (seen == k_released) {
                return nullptr;
            }
            // acq_rel: release pairs with push, which then looks at the parts; acquire reads links.
        } while (!m_word.compare_exchange_weak(seen, k_partly, std::memory_order_acq_rel,
                                               std::memory_order_acquire));
        return oldest_first(seen);
    }

    /// True: its effects are visible to the caller.
    bool is_released() const noexcept {
        return m_word.load(std::memory_order_acquire) == k_released;  // pairs with release
    }

    /// Returns the links, the oldest first.
    Link* release() noexcept {
        // acq_rel: release pairs with push and is_released; acquire reads the links.
        return oldest_first(m_word.exchange(k_released, std::memory_order_acq_rel));
    }

    /// The newest link, or null. For reports: any thread, on a copy of the word's bytes too. The
    /// link may be gone.
    const Link* newest() const noexcept {
        const std::uintptr_t seen = m_word.load(std::memory_order_relaxed);
        return seen == k_released ? nullptr : reinterpret_cast<const Link*>(seen & ~k_partly);
    }

private:
    static constexpr std::uintptr_t k_released = 1;
    static constexpr std::uintptr_t k_partly = 2;  ///< some bytes of the access are

    static Link* oldest_first(std::uintptr_t top) noexcept {
        Link* oldest = nullptr;
        for (auto* each = reinterpret_cast<Link*>(top & ~k_partly); each != nullptr;) {
            Link* const older = each->next;
            each->next = oldest;
            oldest = each;
            each = older;
        }
        return oldest;
    }

    typename Atomics::template atomic<std::uintptr_t> m_word{0};
};

/// Whether an access of the set is not released. If none is, the caller, the owner of the map, may
/// have their memory used again: their effects are visible to it.
template <class Accesses>
bool has_unreleased(const Accesses& all) noexcept {
    return std::any_of(all.begin(), all.end(),
                       [](const auto* each) { return !each->successors.is_released(); });
}

/// How many links to predecessors are not satisfied. While they are being made it cannot reach
/// zero.
template <class Atomics>
class predecessor_count {
public:
    /// The registering thread has made its last link, of `links`. True: all are satisfied, and the
    /// caller continues with the successor. Called once.
    bool registered(std::uint32_t links) noexcept {
        if (links == 0) {
            return true;  // no other thread knows the successor
        }
        const std::uint32_t others = k_registering - links;
        // acq_rel: release makes the successor visible to the last predecessor; acquire pairs with
        // satisfied.
        return m_left.fetch_sub(others, std::memory_order_acq_rel) == others;
    }

    /// A predecessor has released its access. True: it was the last, and the caller continues with
    /// the successor.
    bool satisfied() noexcept {
        // acq_rel: the last one sees the effects of all others (release sequence), and registered.
        return m_left.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    /// Of a recorded task, which has begun: starts anew with so many. No other thread may change it
    /// before the caller has published that.
    void rearm(std::uint32_t links) noexcept { m_left.store(links, std::memory_order_relaxed); }

    /// Any thread; already out of date.
    std::uint32_t left() const noexcept {
        const std::uint32_t now = m_left.load(std::memory_order_relaxed);
        return now > k_registering / 2 ? 0 : now;
    }

private:
    /// More than any number of links of one successor.
    static constexpr std::uint32_t k_registering = std::uint32_t{1} << 30;

    typename Atomics::template atomic<std::uint32_t> m_left{k_registering};
};

}  // namespace quern::detail
