// SPDX-License-Identifier: BSL-1.0
// Open addressing: a slot holds the number of a site, or 0, and never changes again. A thread that
// finds none writes the site first and then puts its number into the slot.
#include "sites/known_sites.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

namespace quern::detail {

namespace {

constexpr std::size_t k_slots = 2 * std::size_t{k_most_sites};
constexpr std::size_t k_longest_name = 200;  // characters that are kept (guessed)

struct site_table {
    std::array<std::atomic<std::uint16_t>, k_slots> slots;
    std::array<known_site, k_most_sites> sites;
    std::array<std::atomic<bool>, k_most_sites> is_known;
    std::atomic<std::uint32_t> next{k_other_sites + 1};
};

constinit site_table g_table{};

/// A name may be as long as it likes; only the beginning counts.
std::string_view beginning_of(const char* name) noexcept {
    return name == nullptr ? std::string_view()
                           : std::string_view(name, ::strnlen(name, k_longest_name));
}

std::size_t slot_of(const void* address, std::string_view name) noexcept {
    std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(address);
    for (const char c : name) {
        mixed = (mixed ^ static_cast<unsigned char>(c)) * 1099511628211ULL;  // FNV-1a
    }
    return static_cast<std::size_t>((mixed * 0x9e3779b97f4a7c15ULL) >> 32);
}

/// 0: there is no room.
std::uint16_t new_number(const void* address, std::string_view name,
                         work::run_function entry) noexcept {
    if (g_table.next.load(std::memory_order_relaxed) >= k_most_sites) {
        return k_other_sites;
    }
    char* copy = nullptr;
    if (!name.empty()) {
        copy = new (std::nothrow) char[name.size() + 1];
        if (copy == nullptr) {
            return k_other_sites;
        }
        std::memcpy(copy, name.data(), name.size());
        copy[name.size()] = '\0';
    }
    const std::uint32_t number = g_table.next.fetch_add(1, std::memory_order_relaxed);
    if (number >= k_most_sites) {
        delete[] copy;
        return k_other_sites;
    }
    g_table.sites[number] = {copy, address, entry};
    return static_cast<std::uint16_t>(number);
}

}  // namespace

bool known_site::is_of(const void* at, const char* named) const noexcept {
    return address == at && beginning_of(name) == beginning_of(named);
}

/// A number is lost where two threads meet the same new site at the same moment.
std::uint16_t number_of_site(const task_description& task) noexcept {
    const void* const address = address_of_site(task);
    const char* const name = task.name;
    const std::string_view text = beginning_of(name);
    std::uint16_t own = k_other_sites;
    std::size_t at = slot_of(address, text);
    for (std::size_t i = 0; i < k_slots; ++i, ++at) {
        auto& slot = g_table.slots[at % k_slots];
        std::uint16_t found = slot.load(std::memory_order_acquire);  // pairs with the exchange
        if (found == k_other_sites) {
            own = own != k_other_sites ? own : new_number(address, text, task.entry);
            if (own == k_other_sites) {
                return own;
            }
            // release: pairs with both acquires, for the site itself.
            if (slot.compare_exchange_strong(found, own, std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
                g_table.is_known[own].store(true, std::memory_order_release);  // site_of_number
                return own;
            }
        }
        if (g_table.sites[found].is_of(address, name)) {
            return found;
        }
    }
    return k_other_sites;
}

std::uint16_t end_of_sites() noexcept {
    const std::uint32_t next = g_table.next.load(std::memory_order_relaxed);
    return static_cast<std::uint16_t>(next < k_most_sites ? next : k_most_sites);
}

const known_site* site_of_number(std::uint16_t number) noexcept {
    return g_table.is_known[number].load(std::memory_order_acquire) ? &g_table.sites[number]
                                                                    : nullptr;
}

site_counts::~site_counts() {
    for (auto& block : m_further) {
        delete[] block.load(std::memory_order_relaxed);
    }
}

site_tally& site_counts::of(const task_description& task) noexcept {
    const void* const address = address_of_site(task);
    const char* const name = task.name;
    const auto mixed =
        reinterpret_cast<std::uintptr_t>(address) ^ (reinterpret_cast<std::uintptr_t>(name) * 7);
    met& slot = m_lately[(mixed ^ (mixed >> 6)) % k_lately];
    // Where a name was, another one may be now.
    if (slot.address != address || slot.name != name || slot.site == k_other_sites ||
        (name != nullptr && !g_table.sites[slot.site].is_of(address, name))) {
        slot = {address, name, number_of_site(task)};
    }
    return tally(slot.site);
}

site_tally& site_counts::tally(std::uint16_t site) noexcept {
    if (site < k_in_block) {
        return m_first[site];
    }
    auto& place = m_further[site / k_in_block];
    site_tally* block = place.load(std::memory_order_relaxed);
    if (block == nullptr) {
        block = new (std::nothrow) site_tally[k_in_block];
        if (block == nullptr) {
            return m_first[k_other_sites];
        }
        place.store(block, std::memory_order_release);  // pairs with at()
    }
    return block[site % k_in_block];
}

}  // namespace quern::detail
