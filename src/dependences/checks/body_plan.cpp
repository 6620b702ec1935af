// SPDX-License-Identifier: BSL-1.0
// The rights of a body, from the declarations of its task and of all others; the copies of memory
// that are compared afterwards.
#include "checks/body_plan.hpp"

#include "checks/page_guard.hpp"

#include <quern/base/detail/peek.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/detail/dependent_task.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::uint8_t k_uses = may_read | may_write;

std::uint8_t rights_of(const region& access, bool with_weak) noexcept {
    if (access.is_weak && !with_weak) {
        return for_children;
    }
    if (access.kind == access_kind::read) {
        return may_read;
    }
    if (access.kind == access_kind::reduction && !with_weak) {
        return in_own_part;
    }
    return static_cast<std::uint8_t>(k_uses | (access.is_out ? writes_first : 0));
}

/// Whether the value before counts.
bool reads_value(std::uint8_t may) noexcept {
    return (may & may_read) != 0 && (may & writes_first) == 0;
}

/// Of bytes with two accesses.
std::uint8_t rights_of_both(std::uint8_t a, std::uint8_t b) noexcept {
    const bool is_read = reads_value(a) || reads_value(b);
    return static_cast<std::uint8_t>((a | b) & (is_read ? ~writes_first : ~0));
}

class rows_by_begin {
public:
    void add(const byte_range& bytes, std::int32_t access, std::uint8_t may) {
        split_at(bytes.begin);
        split_at(bytes.end);
        std::uintptr_t at = bytes.begin;
        auto next = m_rows.lower_bound(at);
        while (at < bytes.end) {
            if (next == m_rows.end() || next->first > at) {
                const std::uintptr_t end =
                    next == m_rows.end() ? bytes.end : std::min(bytes.end, next->first);
                m_rows.emplace_hint(next, at, row{end, access, may});
                at = end;
                continue;
            }
            row& present = next->second;
            if ((may & k_uses) > (present.may & k_uses)) {
                present.access = access;
            }
            present.may = rights_of_both(present.may, may);
            at = present.end;
            ++next;
        }
    }

    std::vector<declared_row> all() const {
        std::vector<declared_row> found;
        found.reserve(m_rows.size());
        for (const auto& [begin, one] : m_rows) {
            found.push_back({{begin, one.end}, one.access, one.may});
        }
        return found;
    }

private:
    struct row {
        std::uintptr_t end;
        std::int32_t access;
        std::uint8_t may;
    };

    void split_at(std::uintptr_t address) {
        const auto at = m_rows.upper_bound(address);
        if (at != m_rows.begin()) {
            auto& [begin, present] = *std::prev(at);
            if (begin < address && address < present.end) {
                m_rows.emplace_hint(at, address, present);
                present.end = address;
            }
        }
    }

    std::map<std::uintptr_t, row> m_rows;
};

/// The watched parts, cut at the ends of the task's own rows, which are watched too.
void make_parts(guard_plan& plan, const watched_regions& watched,
                const std::vector<declared_row>& rows, bool was_aside) {
    const std::uint8_t counts =
        static_cast<std::uint8_t>(was_aside ? ~writes_first : ~std::uint8_t{0});
    auto row = rows.begin();
    for (const auto& [begin, part] : watched.parts()) {
        std::uintptr_t at = begin;
        while (at < part.end) {
            while (row != rows.end() && row->bytes.end <= at) {
                ++row;
            }
            const bool is_own = row != rows.end() && row->bytes.begin <= at;
            std::uintptr_t end = part.end;
            if (row != rows.end()) {
                end = std::min(end, is_own ? row->bytes.end : row->bytes.begin);
            }
            guarded_part& next = plan.parts.emplace_back();
            next.begin = at;
            next.end = end;
            next.kind = part.by.kind;
            if (is_own) {
                next.access = row->access;
                next.may = static_cast<std::uint8_t>(row->may & counts);
            }
            at = end;
        }
    }
}

/// `first`: the first part that ends behind the page's begin; moved on.
guarded_page::use_of use_of_page(const guard_plan& plan, std::uintptr_t begin, std::size_t bytes,
                                 std::size_t& first) {
    while (first < plan.parts.size() && plan.parts[first].end <= begin) {
        ++first;
    }
    using enum guarded_page::use_of;
    const guarded_part* one = nullptr;
    bool has_uses = false;
    bool has_several = false;
    for (std::size_t i = first; i < plan.parts.size() && plan.parts[i].begin < begin + bytes; ++i) {
        const guarded_part& each = plan.parts[i];
        has_several =
            has_several || (one != nullptr && (one->access != each.access || one->may != each.may));
        has_uses = has_uses || (each.may & k_uses) != 0;
        one = &each;
    }
    if (one == nullptr || !has_uses) {
        return none;
    }
    return has_several ? mixed : (one->may & may_write) != 0 ? write : read;
}

}  // namespace

std::vector<declared_row> declared_rows(std::span<const access_record> accesses, bool with_weak) {
    rows_by_begin rows;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const std::uint8_t may = rights_of(accesses[i], with_weak);
        for_each_row_of(accesses[i], [&](const byte_range& bytes) {
            rows.add(bytes, static_cast<std::int32_t>(i), may);
        });
    }
    return rows.all();
}

void make_plan(guard_plan& plan, watched_regions& watched, std::span<const access_record> accesses,
               bool was_aside) {
    plan.parts.clear();
    plan.pages.clear();
    plan.found_count = 0;
    make_parts(plan, watched, detail::declared_rows(accesses, false), was_aside);
    if (why_no_page_guard() != nullptr) {
        return;
    }
    const std::size_t bytes = guarded_page_bytes();
    std::size_t first = 0;
    for (const byte_range& run : watched.own_pages(bytes)) {
        for (std::uintptr_t begin = run.begin; begin < run.end; begin += bytes) {
            plan.pages.push_back({begin, use_of_page(plan, begin, bytes, first)});
        }
    }
}

// -- comparison --------------------------------------------------------------------------------

void snapshot::add(const byte_range& bytes, std::size_t part) {
    const std::size_t offset = m_bytes.size();
    const std::size_t size = bytes.end - bytes.begin;
    m_bytes.resize(offset + size);
    if (copy_if_there(m_bytes.data() + offset, reinterpret_cast<const void*>(bytes.begin), size)) {
        m_pieces.push_back({bytes, static_cast<std::uint32_t>(part), offset});
    } else {
        m_bytes.resize(offset);
    }
}

void snapshot::take(const guard_plan& plan) {
    m_pieces.clear();
    m_bytes.clear();
    const std::size_t page_bytes = guarded_page_bytes();
    auto page = plan.pages.begin();
    for (std::size_t i = 0; i < plan.parts.size(); ++i) {
        const guarded_part& part = plan.parts[i];
        if ((part.may & may_write) != 0) {
            continue;
        }
        // Not those on pages where each write is seen.
        std::uintptr_t at = part.begin;
        while (page != plan.pages.end() && page->begin + page_bytes <= at) {
            ++page;
        }
        for (auto each = page; at < part.end; ++each) {
            const bool is_in = each != plan.pages.end() && each->begin < part.end;
            const std::uintptr_t next = is_in ? std::max(at, each->begin) : part.end;
            if (at < next) {
                add({at, next}, i);
            }
            if (!is_in) {
                break;
            }
            at = std::min(part.end, each->begin + page_bytes);
            if (each->use == guarded_page::use_of::mixed) {
                add({next, at}, i);
            }
        }
    }
}

void snapshot::compare(guard_plan& plan) const {
    const std::size_t page_bytes = guarded_page_bytes();
    std::vector<std::byte> now;
    for (const piece& each : m_pieces) {
        const std::size_t size = each.bytes.end - each.bytes.begin;
        now.resize(size);
        const std::byte* const before = m_bytes.data() + each.offset;
        if (!copy_if_there(now.data(), reinterpret_cast<const void*>(each.bytes.begin), size)) {
            continue;
        }
        const auto differs = std::mismatch(now.begin(), now.end(), before).first;
        if (differs == now.end()) {
            continue;
        }
        const std::uintptr_t address =
            each.bytes.begin + static_cast<std::size_t>(differs - now.begin());
        const auto page = std::find_if(plan.pages.begin(), plan.pages.end(), [&](const auto& p) {
            return address - p.begin < page_bytes;
        });
        if (page != plan.pages.end() && page->is_shared) {
            continue;  // other code may have written there
        }
        const std::uint8_t may = plan.parts[each.part].may;
        const mistake_kind what = (may & may_read) != 0       ? mistake_kind::only_read
                                  : (may & for_children) != 0 ? mistake_kind::weak
                                  : (may & in_own_part) != 0  ? mistake_kind::reduction
                                                              : mistake_kind::undeclared;
        plan.add({.what = what, .is_write = true, .part = each.part, .address = address});
    }
}

}  // namespace quern::detail
