// SPDX-License-Identifier: BSL-1.0
// A part of memory all of whose bytes have the same last accesses, and the table that finds it by
// its exact region.
#pragma once

#include <quern/dependences/detail/access_set.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace quern::detail {

struct fragment {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;                  ///< of a row
    std::unique_ptr<const strides> shape;   ///< null: one row
    access_kind kind = access_kind::read;   ///< of `current`
    writer_rank last_writer = k_no_writer;  ///< of an access that is not in the sets any more
    std::uint32_t operation = 0;
    access_set current;  ///< the last accesses: one write, or some that may run at the same time
    access_set before;   ///< what those of `current` wait for
    std::shared_ptr<commutative_lock> lock;  ///< of `current`, if it is commutative

    strided_region where() const noexcept { return {{begin, bytes}, shape.get()}; }
    bool is_exactly(const strided_region& wanted) const noexcept {
        return begin == wanted.begin && bytes == wanted.bytes &&
               (shape == nullptr ? wanted.shape == nullptr
                                 : wanted.shape != nullptr && *shape == *wanted.shape);
    }
    /// From its first byte to behind its last one.
    std::size_t extent() const noexcept { return shape != nullptr ? shape->extent(bytes) : bytes; }
    /// So that both can be one.
    bool has_state_of(const fragment& other) const noexcept {
        return kind == other.kind && operation == other.operation && lock == other.lock &&
               current == other.current && before == other.before;
    }
    /// Such an access may run beside those of `current`.
    bool is_joined_by(const region& access) const noexcept {
        return kind == access.kind && is_shared(kind) && operation == access.operation;
    }
    /// What such an access waits for.
    const access_set& predecessors(const region& access) const noexcept {
        return is_joined_by(access) ? before : current;
    }
};

/// Open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R).
class exact_table {
public:
    fragment* find(const strided_region& wanted) const noexcept {
        if (m_slots.empty()) {
            return nullptr;
        }
        for (std::size_t at = place_of(wanted.begin, wanted.bytes); m_slots[at].is != nullptr;
             at = (at + 1) & (m_slots.size() - 1)) {
            if (m_slots[at].begin == wanted.begin && m_slots[at].is->is_exactly(wanted)) {
                return m_slots[at].is;
            }
        }
        return nullptr;
    }
    void reserve(std::size_t more);  ///< throws std::bad_alloc
    void insert(fragment& f) noexcept;
    void erase(const fragment& f) noexcept;
    void clear() noexcept;

private:
    std::size_t place_of(std::uintptr_t begin, std::size_t bytes) const noexcept {
        constexpr std::uint64_t k_multiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
        const std::uint64_t mixed = (begin ^ (std::uint64_t{bytes} << 40)) * k_multiplier;
        return (mixed ^ (mixed >> 32)) & (m_slots.size() - 1);
    }

    /// With the begin, so that other fragments on the way are not touched.
    struct slot {
        std::uintptr_t begin = 0;
        fragment* is = nullptr;
    };

    std::vector<slot> m_slots;
    std::size_t m_used = 0;
};

}  // namespace quern::detail
