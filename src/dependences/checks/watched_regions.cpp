// SPDX-License-Identifier: BSL-1.0
// Divides and joins the watched parts, and finds the writable pages that they cover.
#include "checks/watched_regions.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

namespace quern::detail {

namespace {

/// What the memory of this process is, by addresses. Empty if it cannot be read.
std::vector<byte_range> writable_memory() {
    std::vector<byte_range> found;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(
        std::fopen("/proc/self/maps", "re"), [](std::FILE* f) { return std::fclose(f); });
    if (maps == nullptr) {
        return found;
    }
    char line[512];
    bool begins = true;  // a long line comes in parts
    while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
        byte_range range;
        char may[8] = "";
        if (begins &&
            std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &range.begin, &range.end, may) ==
                3 &&
            may[0] == 'r' && may[1] == 'w') {
            if (!found.empty() && found.back().end == range.begin) {
                found.back().end = range.end;
            } else {
                found.push_back(range);
            }
        }
        begins = std::find(std::begin(line), std::end(line), '\n') != std::end(line);
    }
    return found;
}

}  // namespace

watched_regions::parts_by_begin::const_iterator watched_regions::first_behind(
    std::uintptr_t address) const {
    auto at = m_parts.upper_bound(address);
    if (at != m_parts.begin() && std::prev(at)->second.end > address) {
        --at;
    }
    return at;
}

void watched_regions::split_at(std::uintptr_t address) {
    const auto at = m_parts.upper_bound(address);
    if (at == m_parts.begin()) {
        return;
    }
    auto& [begin, present] = *std::prev(at);
    if (begin < address && address < present.end) {
        m_parts.emplace_hint(at, address, present);
        present.end = address;
    }
}

void watched_regions::add(const byte_range& bytes, const declarer& by) {
    if (bytes.begin >= bytes.end) {
        return;
    }
    if (const auto same = m_parts.find(bytes.begin); same != m_parts.end() &&
                                                     same->second.end == bytes.end &&
                                                     same->second.by.depth <= by.depth) {
        return;
    }
    split_at(bytes.begin);
    split_at(bytes.end);
    std::uintptr_t at = bytes.begin;
    auto next = m_parts.lower_bound(bytes.begin);
    while (at < bytes.end) {
        if (next == m_parts.end() || next->first > at) {
            const std::uintptr_t end =
                next == m_parts.end() ? bytes.end : std::min(bytes.end, next->first);
            m_parts.emplace_hint(next, at, part{end, by});
            m_pages_are_known = false;
            at = end;
            continue;
        }
        if (by.depth < next->second.by.depth) {
            next->second.by = by;
        }
        at = next->second.end;
        ++next;
    }
}

void watched_regions::forget(const byte_range& bytes) {
    split_at(bytes.begin);
    split_at(bytes.end);
    m_parts.erase(m_parts.lower_bound(bytes.begin), m_parts.lower_bound(bytes.end));
    m_pages_are_known = false;
}

void watched_regions::forget_domain(const domain_core& home) {
    if (std::erase_if(m_parts, [&](const auto& each) { return each.second.by.home == &home; }) !=
        0) {
        m_pages_are_known = false;
    }
}

void watched_regions::clear() {
    m_parts.clear();
    m_pages.clear();
    m_pages_are_known = true;
}

const std::vector<byte_range>& watched_regions::own_pages(std::size_t page_bytes) {
    constexpr std::size_t k_padding = 64;  // a cache line
    if (std::exchange(m_pages_are_known, true)) {
        return m_pages;
    }
    m_pages.clear();
    const std::vector<byte_range> writable = writable_memory();
    auto memory = writable.begin();
    for (auto at = m_parts.begin(); at != m_parts.end();) {
        byte_range run{at->first, at->second.end};
        for (++at; at != m_parts.end() && at->first - run.end < k_padding; ++at) {
            run.end = at->second.end;
        }
        const std::uintptr_t last = run.end / page_bytes * page_bytes;
        std::uintptr_t first = (run.begin + page_bytes - 1) / page_bytes * page_bytes;
        while (memory != writable.end() && memory->end <= first) {
            ++memory;
        }
        for (auto in = memory; in != writable.end() && in->begin < last; ++in) {
            const byte_range pages{std::max(first, in->begin), std::min(last, in->end)};
            if (pages.begin < pages.end) {
                m_pages.push_back(pages);
            }
        }
    }
    return m_pages;
}

}  // namespace quern::detail
