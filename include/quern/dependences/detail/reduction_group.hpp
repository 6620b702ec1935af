// SPDX-License-Identifier: BSL-1.0
// Reductions: the tasks of a group accumulate in slots of their own, at the same time. A slot
// belongs to a task from its first use to the end of the task, wherever that runs and however often
// it suspends; then the next task of the group continues in it. When the group is closed, because
// something else needs the object, one task combines the slots with the object.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/dependences/detail/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// How parts are combined.
struct reduction_manner {
    std::uint32_t type = 0;       ///< of the object and the operator: operation_of()
    std::uint32_t operation = 0;  ///< of the operator
    bool is_ordered = false;

    bool operator==(const reduction_manner&) const = default;
};

/// The tasks that reduce to the same region in the same manner, with nothing else in between.
class reduction_group {
public:
    reduction_group(const region& of, const reduction_manner& by) noexcept
        : where(of), manner(by) {}
    reduction_group(const reduction_group&) = delete;
    reduction_group& operator=(const reduction_group&) = delete;
    virtual ~reduction_group() = default;

    bool is_of(const region& other, const reduction_manner& by) const noexcept {
        return where.begin == other.begin && where.bytes == other.bytes && manner == by;
    }

    /// Combines all slots with the object. Requires: all members have ended. Throws what the
    /// operator throws.
    virtual void combine() = 0;

    const region where;
    const reduction_manner manner;
    std::uint64_t members = 0;  ///< of the owner of the domain: the position of the next one
};

/// `Value`: T, or std::vector<T> for a range.
template <class T, class Value, class Op>
class typed_reduction final : public reduction_group {
public:
    struct slot {
        Value value;
        std::uint64_t position;
        std::unique_ptr<slot> next{};  ///< free ones, or all
    };

    typed_reduction(const region& of, const reduction_manner& by, Op op, const T& identity)
        : reduction_group(of, by), m_op(std::move(op)), m_identity(identity) {}
    ~typed_reduction() override {
        while (m_free != nullptr) {  // not one within the other: there may be many
            m_free = std::move(m_free->next);
        }
    }

    /// Any thread. Throws std::bad_alloc, and what copying T throws.
    std::unique_ptr<slot> take(std::uint64_t position) {
        if (!manner.is_ordered) {
            const std::lock_guard held(m_lock);
            if (m_free != nullptr) {
                auto found = std::move(m_free);
                m_free = std::move(found->next);
                return found;
            }
        }
        if constexpr (std::is_same_v<Value, T>) {
            return std::make_unique<slot>(slot{.value = m_identity, .position = position});
        } else {
            return std::make_unique<slot>(
                slot{.value = Value(where.bytes / sizeof(T), m_identity), .position = position});
        }
    }
    void give_back(std::unique_ptr<slot> one) noexcept {
        const std::lock_guard held(m_lock);
        one->next = std::move(m_free);
        m_free = std::move(one);
    }

    void combine() override {
        std::vector<slot*> all;
        for (slot* each = m_free.get(); each != nullptr; each = each->next.get()) {
            all.push_back(each);
        }
        std::sort(all.begin(), all.end(),
                  [](const slot* a, const slot* b) { return a->position < b->position; });
        T* const into = reinterpret_cast<T*>(where.begin);
        for (slot* const each : all) {
            if constexpr (std::is_same_v<Value, T>) {
                combine_one(*into, each->value);
            } else {
                for (std::size_t i = 0; i < each->value.size(); ++i) {
                    combine_one(into[i], each->value[i]);
                }
            }
        }
    }

private:
    void combine_one(T& into, T& from) {
        if constexpr (std::is_void_v<std::invoke_result_t<Op&, T&, T&>>) {
            m_op(into, from);
        } else {
            into = m_op(std::move(into), std::move(from));
        }
    }

    Op m_op;
    T m_identity;
    spin_lock m_lock;
    std::unique_ptr<slot> m_free;
};

/// The groups of a domain that are not combined. Finding one takes a logarithm of their number, so
/// that accesses to other memory do not pay for them. Owner of the domain.
class open_reductions {
public:
    bool empty() const noexcept { return m_by_begin.empty(); }
    reduction_group& first() const noexcept { return *m_by_begin.begin()->second; }

    /// The group of exactly that region and manner, or null.
    std::shared_ptr<reduction_group> find(const region& of,
                                          const reduction_manner& by) const noexcept {
        const auto at = m_by_begin.find(of.begin);
        return at != m_by_begin.end() && at->second->is_of(of, by) ? at->second : nullptr;
    }
    /// Requires: none overlaps with it. Throws std::bad_alloc.
    void add(std::shared_ptr<reduction_group> one) {
        const std::uintptr_t begin = one->where.begin;
        m_by_begin.emplace(begin, std::move(one));
    }
    /// Removes one that overlaps with the region. Null: there is none.
    std::shared_ptr<reduction_group> take_overlapping(const strided_region& of) noexcept;
    /// Removes the first one. Null: there is none.
    std::shared_ptr<reduction_group> take_first() noexcept;
    void clear() noexcept { m_by_begin.clear(); }

private:
    /// Invariant: they do not overlap.
    std::map<std::uintptr_t, std::shared_ptr<reduction_group>> m_by_begin;
};

}  // namespace quern::detail
