// SPDX-License-Identifier: BSL-1.0
// The memory that tasks of a domain have declared since its last taskwait(): what check-accesses
// watches. Disjoint parts, each with its declarer. Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace quern::detail {

class domain_core;

/// The kind of task that declared a part first, and its domain.
struct declarer {
    std::uint32_t kind = 0;
    std::uint32_t depth = 0;  ///< of the domain: 0 is the root
    const domain_core* home = nullptr;
};

/// The bytes [begin, end).
struct byte_range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

class watched_regions {
public:
    struct part {
        std::uintptr_t end;
        declarer by;
    };
    using parts_by_begin = std::map<std::uintptr_t, part>;

    /// What is declared already keeps its declarer, unless the new one is of an outer domain.
    /// Throws std::bad_alloc.
    void add(const byte_range& bytes, const declarer& by);
    void forget(const byte_range& bytes);
    /// Those that only tasks of this domain have declared.
    void forget_domain(const domain_core& home);
    void clear();

    const parts_by_begin& parts() const noexcept { return m_parts; }
    /// The first part that ends behind the address, or the end.
    parts_by_begin::const_iterator first_behind(std::uintptr_t address) const;
    /// Whole pages without bytes that no task has declared, except for gaps of less than 64 bytes,
    /// which are the padding of tiles and the headers of the heap. Only memory that may be written.
    const std::vector<byte_range>& own_pages(std::size_t page_bytes);

private:
    void split_at(std::uintptr_t address);

    parts_by_begin m_parts;
    std::vector<byte_range> m_pages;
    bool m_pages_are_known = true;
};

}  // namespace quern::detail
