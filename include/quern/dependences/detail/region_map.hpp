// SPDX-License-Identifier: BSL-1.0
// Which tasks a new access must wait for: the map of a domain from memory to its last accesses. It
// belongs to the owner of the domain and has no lock. Invariant: fragments are disjoint, and the
// `current` of each are the last accesses of all of its bytes; src/dependences/README.md, "The
// map".
#pragma once

#include <quern/dependences/detail/fragment.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace quern::detail {

/// The links that are made for one target.
struct new_links {
    dependence_target& target;
    access_record* with_link;    ///< whose own link serves for the first one
    const access_owner* except;  ///< whose accesses it does not wait for
    std::uint32_t& made;
    const strided_region* by = nullptr;  ///< the access that waits, if that is known

    void add(access_record& predecessor) {
        if (&predecessor.owner != except && predecessor.precede(target, with_link, by)) {
            ++made;
        }
    }
};

/// What is done by those accesses to a region that are not released.
enum class region_use : std::uint8_t { none, read, changed };

class region_map {
public:
    region_map() = default;
    region_map(const region_map&) = delete;
    region_map& operator=(const region_map&) = delete;

    /// Links the access, not empty, to all that it must wait for, and enters it. Throws
    /// std::bad_alloc; then it is entered in a part of its region.
    QUERN_ALWAYS_INLINE void enter(access_record& access, new_links& links) {
        if (++m_entered >= m_forget_at) [[unlikely]] {
            forget_released();
        }
        if (fragment* const exact = m_exact.find(access)) [[likely]] {
            join(*exact, access, links);
        } else {
            enter_new(access, links);
        }
    }

    /// For a weak access, whose parts have entries of their own: the fragments that the access
    /// consists of; then it is entered there. Both throw std::bad_alloc.
    std::span<const fragment* const> divide(const access_record& access);
    void enter_divided(access_record& access);

    /// Links the target to all that such an access would wait for.
    void link(const strided_region& wanted, new_links& links) const;

    /// What the last accesses to it do. Most regions are exactly a fragment: a lookup in a hash.
    region_use use_of(const strided_region& wanted) const;

    /// Links the target, an access of the parent, to the last accesses of its region.
    void link_to_users(access_record& target, new_links& links) const;

    /// Commutative accesses may need a lock of an outer domain.
    bool inherits_locks() const noexcept { return !m_inherited.empty(); }

    void clear() noexcept;
    std::size_t fragments() const noexcept {
        return m_ordered.size() + m_strided.size() + m_sentinels.size();
    }

private:
    using ordered = std::map<std::uintptr_t, fragment>;

    /// Commutative accesses to that part of memory need the lock of an outer domain too.
    struct inherited_lock {
        region row;
        strides shape;
        std::shared_ptr<commutative_lock> lock;
        bool is_alone;

        strided_region where() const noexcept { return {row, shape.is_used() ? &shape : nullptr}; }
    };

    // region_map.cpp
    void join(fragment& f, access_record& access, new_links& links);
    void join_parts(access_record& access, new_links& links);
    void enter_set(fragment& f, access_record& access);
    void enter_new(access_record& access, new_links& links);
    std::shared_ptr<commutative_lock> lock_for(const fragment& f) const;
    static void take_lock(const fragment& f, const std::shared_ptr<commutative_lock>& its,
                          access_record& access);
    bool needs_lock(const strided_region& part, const commutative_lock& above) const noexcept;
    void remove_unused() noexcept;
    void forget_released() noexcept;

    // region_parts.cpp
    bool is_untouched(const strided_region& wanted) const;
    fragment& add_strided(const access_record& access);
    fragment& add_row(std::uintptr_t begin, std::size_t bytes);
    fragment part_of(const fragment& whole, std::uintptr_t begin, std::size_t bytes) const;
    ordered::iterator split(ordered::iterator f, std::uintptr_t at);
    void expand(ordered::iterator strided);
    void find_parts(const access_record& access);
    void find_parts_of_row(std::uintptr_t begin, std::size_t bytes);
    void merge_parts(const access_record& access) noexcept;

    template <class F>
    void for_each_overlapping(const strided_region& wanted, F call) const;
    template <class F>
    void for_each_strided(const strided_region& wanted, F call) const;

    ordered m_ordered;  ///< of one row, by their begin
    ordered m_strided;  ///< of several rows
    ordered m_sentinels;
    exact_table m_exact;            ///< all
    std::size_t m_longest = 0;      ///< extent of a strided fragment, at most
    std::size_t m_clean_at = 1024;  ///< fragments; when to look for those that are not used
    std::size_t m_entered = 0;      ///< accesses since the last forget_released()
    std::size_t m_forget_at = 1024;
    std::vector<fragment*> m_parts;  ///< of the access that is being entered
    std::vector<access_record*> m_found;
    std::vector<inherited_lock> m_inherited;
};

}  // namespace quern::detail
