// SPDX-License-Identifier: BSL-1.0
// Finds the powercap zones, and makes sums of counters that wrap.
//
// A folder "intel-rapl:P" is a package or the platform, "intel-rapl:P:S" a zone within it. AMD's
// processors have the same names. "intel-rapl-mmio:P" is a package by another register.
#include "system/zones.hpp"

#include "system/reading.hpp"

#include <quern/topology/detail/text.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace quern::counters::detail {

namespace {

using topology::outcome;
using topology::read_word;
using topology::system_root;
using topology::unavailable;
using topology::detail::in_quotes;
using topology::detail::parse_number;

constexpr std::string_view k_folder = "/sys/class/powercap";

/// Watts, for a zone that states no maximum power. Guessed: more than any package draws today.
constexpr double k_most_watts = 1000;

/// A package may briefly exceed its stated maximum power. Guessed: by less than a factor of 2.
constexpr double k_above_stated = 2;

/// Nanoseconds without a change after which a zone is stuck. The hardware updates the counters
/// every millisecond, also on an idle machine.
constexpr std::uint64_t k_stuck_ns = 1'000'000'000;

struct zone_folder {
    std::string name;
    std::string control;  ///< "intel-rapl"
    std::string parent;   ///< folder of its package; empty for a package
};

std::optional<zone_folder> parse_folder(const std::string& name) {
    const auto pieces = topology::detail::split(name, ':');
    if (!name.starts_with("intel-rapl") || pieces.size() < 2 || pieces.size() > 3) {
        return std::nullopt;
    }
    zone_folder found{name, std::string(pieces[0]), {}};
    if (pieces.size() == 3) {
        found.parent = name.substr(0, name.rfind(':'));
    }
    return found;
}

/// Packages before zones within them; intel-rapl before intel-rapl-mmio.
std::vector<zone_folder> sorted_folders(const std::vector<std::string>& names) {
    std::vector<zone_folder> found;
    for (const std::string& name : names) {
        if (auto folder = parse_folder(name)) {
            found.push_back(std::move(*folder));
        }
    }
    const auto key = [](const zone_folder& f) {
        return std::pair(!f.parent.empty(), f.control.size());
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return found;
}

std::optional<std::uint64_t> number_in(const system_root& root, const std::string& file) {
    const outcome<std::string> word = read_word(root, file);
    return word ? parse_number(*word) : std::nullopt;
}

/// The highest stated power of the zone's limits, doubled, or k_most_watts.
double most_watts(const system_root& root, const std::string& folder) {
    constexpr int k_limits = 3;  // long term, short term, peak
    std::uint64_t highest_uw = 0;
    for (int i = 0; i < k_limits; ++i) {
        const auto stated =
            number_in(root, folder + "/constraint_" + std::to_string(i) + "_max_power_uw");
        highest_uw = std::max(highest_uw, stated.value_or(0));
    }
    return highest_uw == 0
               ? k_most_watts
               : std::min(k_most_watts, k_above_stated * static_cast<double>(highest_uw) / 1e6);
}

class zone_search {
public:
    explicit zone_search(const system_root& root) : m_root(root) {}

    /// Adds the zone, unless it is a duplicate or irrelevant. Unavailable: it has no name.
    outcome<bool> add(const zone_folder& candidate) {
        const std::string folder = std::string(k_folder) + "/" + candidate.name;
        const outcome<std::string> name = read_word(m_root, folder + "/name");
        if (!name) {
            return unavailable{name.reason(), name.error()};
        }
        const std::optional<std::string> group = group_of(candidate, *name);
        if (group) {
            m_found.push_back({folder, *name, *group,
                               number_in(m_root, folder + "/max_energy_range_uj"),
                               most_watts(m_root, folder)});
            m_accepted.push_back(candidate);
        }
        return group.has_value();
    }

    std::vector<zone_description> take() { return std::move(m_found); }

private:
    std::optional<std::string> group_of(const zone_folder& candidate, const std::string& name) {
        if (!candidate.parent.empty()) {
            const bool counts =
                std::any_of(m_accepted.begin(), m_accepted.end(),
                            [&](const zone_folder& f) { return f.name == candidate.parent; });
            return counts ? std::optional(name) : std::nullopt;
        }
        for (std::size_t i = 0; i < m_found.size(); ++i) {
            if (m_found[i].name == name && m_accepted[i].control != candidate.control) {
                return std::nullopt;  // the same package by another register
            }
        }
        if (name.starts_with("package")) {
            return "package";
        }
        return name == "psys" ? std::optional(name) : std::nullopt;
    }

    const system_root& m_root;
    std::vector<zone_description> m_found;
    std::vector<zone_folder> m_accepted;  ///< parallel to m_found
};

}  // namespace

outcome<std::vector<zone_description>> find_zones(const system_root& root) {
    const outcome<std::vector<std::string>> names = topology::list_folder(root, k_folder);
    if (!names) {
        return unavailable{"no energy counters: " + names.reason(), names.error()};
    }
    zone_search search(root);
    for (const zone_folder& candidate : sorted_folders(*names)) {
        const outcome<bool> added = search.add(candidate);
        if (!added) {
            return unavailable{added.reason(), added.error()};
        }
    }
    return search.take();
}

bool zone_meter::may_have_wrapped_twice(std::uint64_t now) const noexcept {
    if (!m_what.range_uj) {
        return false;  // without a range the counter must not decrease
    }
    const double most_uj = static_cast<double>(now - m_read) / 1e9 * m_what.most_watts * 1e6;
    return most_uj > static_cast<double>(*m_what.range_uj);
}

void zone_meter::advance(std::uint64_t shown, std::uint64_t now) {
    const std::uint64_t before = *m_shown;
    if (may_have_wrapped_twice(now)) {
        m_lost = m_what.folder + ": no reading for " +
                 std::to_string((now - m_read) / 1'000'000'000) +
                 " s, in which the energy counter may have wrapped more than once";
    } else if (shown >= before) {
        m_sum_uj += shown - before;
    } else if (m_what.range_uj && before <= *m_what.range_uj) {
        m_sum_uj += *m_what.range_uj - before + shown;
    } else {
        m_lost = m_what.folder + ": the energy counter fell from " + std::to_string(before) +
                 " to " + std::to_string(shown) + " uJ, and max_energy_range_uj does not say why";
    }
    m_moved = shown != before ? now : m_moved;
}

raw_reading zone_meter::read(const system_root& root, std::uint64_t now) {
    if (!m_lost.empty()) {
        return no_reading(source_state::absent, m_lost);
    }
    const std::string file = m_what.folder + "/energy_uj";
    const outcome<std::string> word = read_word(root, file);
    if (!word) {
        return no_reading({word.reason(), word.error()});
    }
    const auto shown = parse_number(*word);
    if (!shown) {
        return no_reading(
            {root.resolve(file) + ": malformed: expected microjoules, found " + in_quotes(*word)});
    }
    const bool begins = !m_shown;
    if (begins) {
        m_moved = now;
    } else {
        advance(*shown, now);
    }
    m_shown = shown;
    m_read = now;
    if (!m_lost.empty()) {
        return no_reading(source_state::absent, m_lost);
    }
    if ((*shown == 0 && m_sum_uj == 0) || now - m_moved >= k_stuck_ns) {
        return no_reading(source_state::stuck,
                          root.resolve(file) + ": does not move from " + *word + " uJ");
    }
    raw_reading reading = reading_of(static_cast<double>(m_sum_uj) / 1e6);
    reading.begins = begins;
    return reading;
}

}  // namespace quern::counters::detail
