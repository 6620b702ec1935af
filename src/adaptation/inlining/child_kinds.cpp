// SPDX-License-Identifier: BSL-1.0
// Open addressing, as for sites: a slot holds the number of a kind, or 0, and never changes again.
// A thread that finds none writes the record first and then puts its number into the slot.
#include "inlining/child_kinds.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <new>

namespace quern::adaptation::detail {

namespace {

constexpr std::size_t k_slots = 2 * std::size_t{k_most_kinds};
constexpr std::size_t k_records_in_block = 64;
constexpr std::uint32_t k_last_kind = k_most_kinds - 1;
constexpr std::uint32_t k_no_number = 0;

struct kind_table {
    std::array<std::atomic<std::uint32_t>, k_slots> slots;
    std::array<std::atomic<kind_record*>, k_most_kinds / k_records_in_block> blocks;
    std::atomic<std::uint32_t> next{1};
};

constinit kind_table g_kinds{};

/// For all kinds beyond the table, and without memory. No braces: gcc 14 would take them for a
/// temporary, which a constant expression may not have of this type.
constinit kind_record g_other_kinds;

std::size_t slot_of(const void* site, const char* name, std::uint64_t instance) noexcept {
    std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(site);
    mixed = (mixed ^ (reinterpret_cast<std::uintptr_t>(name) << 1)) * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ instance) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(mixed >> 32);
}

/// Null without memory.
kind_record* block_of(std::uint32_t kind) noexcept {
    auto& place = g_kinds.blocks[kind / k_records_in_block];
    kind_record* block = place.load(std::memory_order_acquire);  // pairs with the exchange
    if (block == nullptr) {
        auto* const made = new (std::nothrow) kind_record[k_records_in_block];
        // release: pairs with both acquires.
        if (made != nullptr &&
            !place.compare_exchange_strong(block, made, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
            delete[] made;
        } else {
            block = made;
        }
    }
    return block;
}

/// 0: there is no room.
std::uint32_t new_kind(const void* site, const char* name, std::uint64_t instance) noexcept {
    if (g_kinds.next.load(std::memory_order_relaxed) >= k_last_kind) {
        return k_no_number;
    }
    const std::uint32_t kind = g_kinds.next.fetch_add(1, std::memory_order_relaxed);
    kind_record* const block = kind < k_last_kind ? block_of(kind) : nullptr;
    if (block == nullptr) {
        return k_no_number;
    }
    kind_record& made = block[kind % k_records_in_block];
    quern::detail::task_description task;
    task.name = name;
    task.site = site;
    made.site = site;
    made.name = name;
    made.instance = instance;
    made.number = quern::detail::number_of_site(task);
    return kind;
}

/// Frees the records at the end, for leak checkers; tasks no longer run.
[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_kinds() {
    for (auto& block : g_kinds.blocks) {
        delete[] block.exchange(nullptr, std::memory_order_acq_rel);
    }
    for (auto& slot : g_kinds.slots) {
        slot.store(k_no_number, std::memory_order_relaxed);
    }
}

}  // namespace

std::uint32_t kind_of(const void* site, const char* name, std::uint64_t instance) noexcept {
    std::uint32_t own = k_no_number;
    std::size_t at = slot_of(site, name, instance);
    for (std::size_t i = 0; i < k_slots; ++i, ++at) {
        auto& slot = g_kinds.slots[at % k_slots];
        std::uint32_t found = slot.load(std::memory_order_acquire);  // pairs with the exchange
        if (found == k_no_number) {
            own = own != k_no_number ? own : new_kind(site, name, instance);
            if (own == k_no_number) {
                return k_last_kind;
            }
            // release: pairs with both acquires, for the record.
            if (slot.compare_exchange_strong(found, own, std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
                return own;
            }
        }
        const kind_record& one = record_of(found);
        if (one.site == site && one.name == name && one.instance == instance) {
            return found;
        }
    }
    return k_last_kind;
}

kind_record& record_of(std::uint32_t kind) noexcept {
    if (kind == k_last_kind) {
        return g_other_kinds;
    }
    return g_kinds.blocks[kind / k_records_in_block].load(
        std::memory_order_acquire)[kind % k_records_in_block];
}

kind_cell* kind_cells::at(quern::detail::worker& here, std::uint32_t kind) noexcept {
    quern::detail::site_counts* const sites = here.sites();
    if (sites == nullptr) {
        return nullptr;
    }
    auto* cells = static_cast<kind_cells*>(sites->of_rules.get());
    if (cells == nullptr) [[unlikely]] {
        sites->of_rules.reset(new (std::nothrow) kind_cells);
        cells = static_cast<kind_cells*>(sites->of_rules.get());
        if (cells == nullptr) {
            return nullptr;
        }
    }
    auto& block = cells->m_blocks[kind / k_in_block];
    if (block == nullptr) [[unlikely]] {
        block.reset(new (std::nothrow) kind_cells::block);
        if (block == nullptr) {
            return nullptr;
        }
    }
    kind_cell& cell = (*block)[kind % k_in_block];
    if (cell.tally == nullptr) [[unlikely]] {
        cell.tally = &sites->of(record_of(kind).number);
    }
    return &cell;
}

}  // namespace quern::adaptation::detail
