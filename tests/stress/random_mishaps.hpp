// SPDX-License-Identifier: BSL-1.0
// What goes wrong in a random program of dependent tasks (random_dependences.hpp), and what each
// step may rely on in spite of it.
#pragma once

#include "random_dependences.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace quern_test::dependents {

enum class mishap : std::uint8_t {
    none,
    throws_first,  ///< before its work
    throws_last,   ///< after it has made its children
    throws_held,   ///< the same, with a hold
    is_held,       ///< beyond its end, by another task
    cancels,       ///< the outermost domain, and then makes its children
    catches        ///< what the wait for its children throws
};

struct planned_step {
    const step* what;
    mishap happens = mishap::none;
    std::uint32_t last_inside;           ///< the last one of its children and theirs
    std::vector<std::uint32_t> needs{};  ///< steps that have ended when it begins
    std::vector<std::uint64_t> seen{};   ///< by each piece of its work, in the serial program
};

/// All steps, each before its children.
class plan {
public:
    plan(const std::vector<step>& steps, std::uint32_t mishaps, dice& d) {
        for (const step& each : steps) {
            add(each, mishaps, false, d);
        }
        for (std::uint32_t y = 0; y < all.size(); ++y) {
            for (std::uint32_t x = 0; x < y; ++x) {
                if (x_is_needed_by(x, y)) {
                    all[y].needs.push_back(x);
                }
            }
        }
        need_writers_of_rows();
        data serial;
        serial.reset();
        for (const step& each : steps) {
            run_serially(each, serial, [&](const step& s, std::uint64_t seen) {
                all[number_of(s)].seen.push_back(seen);
            });
        }
    }

    std::uint32_t number_of(const step& s) const {
        std::uint32_t i = 0;
        while (all[i].what != &s) {
            ++i;
        }
        return i;
    }

    std::vector<planned_step> all;
    bool is_harmless = true;

private:
    void add(const step& s, std::uint32_t mishaps, bool in_place, dice& d) {
        const auto number = static_cast<std::uint32_t>(all.size());
        all.push_back({.what = &s, .last_inside = number});
        if (mishaps != 0 && d.below(mishaps) == 0) {
            all[number].happens = random_mishap(s, in_place, d);
            is_harmless = is_harmless && (all[number].happens == mishap::none ||
                                          all[number].happens == mishap::is_held ||
                                          all[number].happens == mishap::catches);
        }
        for (const step& each : s.children) {
            add(each, mishaps, in_place || s.how.final, d);
        }
        all[number].last_inside = static_cast<std::uint32_t>(all.size() - 1);
    }

    static mishap random_mishap(const step& s, bool in_place, dice& d) {
        if (s.waits && d.below(2) == 0) {
            return mishap::catches;
        }
        const mishap any[] = {mishap::throws_first, mishap::throws_last, mishap::throws_held,
                              mishap::is_held, mishap::cancels};
        const mishap found = any[d.below(5)];
        // A task in the place of its creation is part of its parent, and has no holds of its own.
        if (in_place && (found == mishap::is_held || found == mishap::throws_held)) {
            return mishap::throws_last;
        }
        return found;
    }

    bool is_inside(std::uint32_t x, std::uint32_t outer) const {
        return outer < x && x <= all[outer].last_inside;
    }

    /// Whether x, created before y, has ended when y begins, whatever happens.
    bool x_is_needed_by(std::uint32_t x, std::uint32_t y) const {
        if (is_inside(y, x)) {
            return false;
        }
        for (std::uint32_t c = 0; c < x; ++c) {
            if (all[c].happens == mishap::catches && is_inside(x, c) && !is_inside(y, c)) {
                return false;
            }
        }
        return are_ordered(strong_part(*all[x].what, true), strong_part(*all[y].what, false));
    }
    /// Without what its children use instead of it. `at_end`: and what it releases before.
    static step strong_part(const step& s, bool at_end) {
        step part;
        part.on_sum = s.on_sum;
        part.sum = s.sum;
        part.sum_by = s.sum_by;
        const bool lacks_first = at_end && (s.releases || s.releases_after_children);
        for (std::size_t i = lacks_first ? 1 : 0; i < s.ranges.size(); ++i) {
            if (!s.ranges[i].is_weak) {
                part.ranges.push_back(s.ranges[i]);
            }
        }
        return part;
    }
    void need_writers_of_rows() {
        std::array<std::optional<std::uint32_t>, k_rows> writer;
        for (std::uint32_t y = 0; y < all.size(); ++y) {
            const step& s = *all[y].what;
            auto& its = writer[s.row];
            if ((s.on_row == row_use::in || s.on_row == row_use::inout) && its.has_value()) {
                all[y].needs.push_back(*its);
            }
            if (s.on_row == row_use::out || s.on_row == row_use::inout) {
                its = y;
            }
        }
    }
};

}  // namespace quern_test::dependents
