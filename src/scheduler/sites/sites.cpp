// SPDX-License-Identifier: BSL-1.0
// Reading the statistics of sites: sums over workers, then names, which are kept once they are
// known.
#include <quern/scheduler/sites.hpp>

#include "sites/known_sites.hpp"

#include <quern/base/detail/foreign_place.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/site_words.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace quern {

namespace {

/// Sums by the number of the site.
struct site_sum {
    double calls = 0;
    double calls_variance = 0;
    double pieces = 0;
    double ticks = 0;
    double ticks_variance = 0;
    std::uint64_t samples = 0;
    std::uint64_t suspensions = 0;
    std::uint64_t inlined = 0;

    void add(const detail::site_tally& one) noexcept {
        calls += static_cast<double>(static_cast<std::uint64_t>(one.calls));
        calls_variance += one.calls_variance;
        pieces += static_cast<double>(static_cast<std::uint64_t>(one.pieces));
        ticks += static_cast<double>(static_cast<std::uint64_t>(one.time));
        ticks_variance += one.time_variance;
        samples += one.samples;
        suspensions += one.suspensions;
        inlined += one.inlined;
    }
    bool is_empty() const noexcept {
        return samples == 0 && suspensions == 0 && inlined == 0 && calls == 0;
    }
};

void add_pool(std::vector<site_sum>& sums, const detail::pool& from) {
    for (std::uint32_t rank = 0; rank < from.size(); ++rank) {
        const detail::site_counts* const counts = from.at(rank).sites();
        for (std::size_t i = 0; counts != nullptr && i < sums.size(); ++i) {
            if (const auto* const tally = counts->at(static_cast<std::uint16_t>(i))) {
                sums[i].add(*tally);
            }
        }
    }
}

struct full_name {
    detail::site_words words;
    std::string id;
};

full_name find_name(const detail::known_site& site) {
    const std::string_view given = site.name != nullptr ? site.name : "";
    full_name found{detail::words_of_site(given, site.address, site.is_entry(),
                                          reinterpret_cast<const void*>(site.entry)),
                    ""};
    const std::string& place = found.words.location;
    if (!place.empty()) {
        found.id = found.words.name + "@" + place;
    } else if (detail::foreign_place::from(site.address) != nullptr) {
        found.id = found.words.name;
    } else {
        found.id = found.words.name + "@" + detail::describe_offset(site.address);
    }
    return found;
}

/// Names live as long as the process: sites are never forgotten.
const full_name& name_of(std::uint16_t number, const detail::known_site& site) {
    static constinit std::array<std::atomic<const full_name*>, detail::k_most_sites> known{};
    const full_name* name = known[number].load(std::memory_order_acquire);  // of the exchange
    if (name == nullptr) {
        auto own = std::make_unique<full_name>(find_name(site));
        // release: pairs with both acquires.
        if (known[number].compare_exchange_strong(name, own.get(), std::memory_order_acq_rel,
                                                  std::memory_order_acquire)) {
            name = own.release();
        }
    }
    return *name;
}

site_statistics statistics_of(const site_sum& sum) {
    const double ns = detail::ns_per_tick();
    site_statistics one;
    one.calls = sum.calls;
    one.calls_error = std::sqrt(sum.calls_variance);
    const double net = sum.ticks - detail::overhead_clock::reading() * sum.pieces;
    one.exclusive_ns = std::max(net, 0.0) * ns;
    one.exclusive_error_ns = std::sqrt(sum.ticks_variance) * ns;
    one.samples = sum.samples;
    one.suspensions = sum.suspensions;
    one.inlined = sum.inlined;
    return one;
}

std::vector<site_statistics> named(const std::vector<site_sum>& sums) {
    std::vector<site_statistics> all;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto number = static_cast<std::uint16_t>(i);
        const detail::known_site* const site = detail::site_of_number(number);
        if (sums[i].is_empty() || (site == nullptr && i != detail::k_other_sites)) {
            continue;
        }
        site_statistics one = statistics_of(sums[i]);
        if (site == nullptr) {
            one.name = one.id = "(other sites)";
        } else {
            const full_name& name = name_of(number, *site);
            one.name = name.words.name;
            one.location = name.words.location;
            one.id = name.id;
            one.site = site->address;
        }
        all.push_back(std::move(one));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.exclusive_ns > b.exclusive_ns; });
    return all;
}

std::vector<site_sum> no_sums() {
    return std::vector<site_sum>(detail::k_counters ? detail::end_of_sites() : 0);
}

}  // namespace

std::vector<site_statistics> site_statistics_of(const runtime& of) {
    std::vector<site_sum> sums = no_sums();
    for (const pool_ref& each : of.pools()) {
        add_pool(sums, each.get());
    }
    return named(sums);
}

std::vector<site_statistics> all_sites() {
    std::vector<site_sum> sums = no_sums();
    {
        const detail::process_registry& all = detail::process_registry::of_process();
        const std::scoped_lock guard(detail::process_registry::lock());
        for (auto* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
            add_pool(sums, p->which);
        }
    }
    return named(sums);
}

bool counts_sites() noexcept { return detail::k_counters; }

const void* register_site(const foreign_site& place) {
    if (place.function.empty() && place.file.empty()) {
        throw std::invalid_argument(
            "quern: register_site: a place needs a function or a file; both are empty");
    }
    if (place.line < 0) {
        throw std::invalid_argument("quern: register_site: line " + std::to_string(place.line) +
                                    "; accepted are 0 (unknown) and above");
    }
    return &detail::foreign_place::with(place.language, place.function, place.file, place.line);
}

}  // namespace quern
