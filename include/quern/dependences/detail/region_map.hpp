// SPDX-License-Identifier: BSL-1.0
// Which tasks a new access must wait for: the map of a domain from memory to its last accesses. It
// belongs to the owner of the domain and has no lock. Disjoint fragments lie in an ordered map; a
// hash finds the fragment that is exactly the region. Invariant: each fragment's `current` are the
// last accesses of all of its bytes; src/dependences/README.md, "The map".
#pragma once

#include <quern/dependences/detail/dependent_task.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace quern::detail {

/// Accesses, each with a reference to its task. Two of them need no memory.
class access_set {
public:
    access_set() noexcept = default;
    access_set(const access_set& other);
    access_set(access_set&& other) noexcept { swap(other); }
    access_set& operator=(const access_set&) = delete;
    ~access_set();

    void swap(access_set& other) noexcept;
    bool empty() const noexcept { return m_size == 0; }
    std::size_t size() const noexcept { return m_size; }
    access_record* const* begin() const noexcept { return data(); }
    access_record* const* end() const noexcept { return data() + m_size; }

    /// Throws std::bad_alloc; then nothing has changed.
    void add(access_record& one);
    void remove_released() noexcept;
    void clear() noexcept;

private:
    static constexpr std::uint32_t k_inside = 2;

    access_record* const* data() const noexcept {
        return m_capacity == k_inside ? m_inside : m_outside;
    }
    access_record** data() noexcept { return m_capacity == k_inside ? m_inside : m_outside; }
    void grow();

    std::uint32_t m_size = 0;
    std::uint32_t m_capacity = k_inside;
    union {
        access_record* m_inside[k_inside] = {};
        access_record** m_outside;
    };
};

struct fragment {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    access_kind kind = access_kind::read;  ///< of `current`
    access_set current;  ///< the last accesses: one write, or some that may run at the same time
    access_set before;   ///< what those of `current` wait for
};

class region_map {
public:
    region_map() = default;
    region_map(const region_map&) = delete;
    region_map& operator=(const region_map&) = delete;

    /// Links the access, not empty, to all that it must wait for, and enters it. Adds the number of
    /// links to `links`. Throws std::bad_alloc; then it is entered in a part of its region.
    void enter(access_record& access, std::uint32_t& links);

    /// Links the target to all that such an access would wait for.
    void link(const region& wanted, dependence_target& target, std::uint32_t& links) const;

    /// Links the target, an access of the parent, to the last accesses of its region.
    void link_to_users(access_record& target, std::uint32_t& links) const;

    void clear() noexcept;
    std::size_t fragments() const noexcept { return m_ordered.size() + m_sentinels.size(); }

private:
    using ordered = std::map<std::uintptr_t, fragment>;

    /// Open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R).
    class exact_table {
    public:
        fragment* find(std::uintptr_t begin, std::size_t bytes) const noexcept;
        void reserve_one();  ///< throws std::bad_alloc
        void insert(fragment& f) noexcept;
        void erase(const fragment& f) noexcept;
        void clear() noexcept;

    private:
        std::size_t place_of(std::uintptr_t begin, std::size_t bytes) const noexcept;
        std::vector<fragment*> m_slots;
        std::size_t m_used = 0;
    };

    static void join(fragment& f, access_record& access, std::uint32_t& links);
    static void link_after(const fragment& f, access_kind kind, const dependent_task* except,
                           dependence_target& target, access_record* with_link,
                           std::uint32_t& links);
    template <class F>
    void for_each_overlapping(const region& wanted, F call) const;
    void enter_overlapping(access_record& access, std::uint32_t& links);
    ordered::iterator split(ordered::iterator f, std::uintptr_t at);
    fragment& add_fragment(std::uintptr_t begin, std::size_t bytes);
    fragment& add_sentinel(std::uintptr_t at);
    void merge_all(access_record& access) noexcept;
    void remove_unused() noexcept;
    void forget_released() noexcept;

    ordered m_ordered;
    ordered m_sentinels;
    exact_table m_exact;
    std::size_t m_clean_at = 1024;  ///< fragments; when to look for those that are not used
    std::size_t m_entered = 0;      ///< accesses since the last forget_released()
    std::size_t m_forget_at = 1024;
};

}  // namespace quern::detail
