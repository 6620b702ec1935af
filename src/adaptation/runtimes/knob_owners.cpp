// SPDX-License-Identifier: BSL-1.0
// The table of owned knobs, behind the lock of the layer. Called by policies; a row lives from the
// owner's first set to the end of the owner or of the pool.
#include "runtimes/knob_owners.hpp"

#include "log/process_object.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::adaptation::detail {

namespace {

struct owned_knob {
    const quern::detail::pool* of;
    const knob* row;
    const policy_state* owner;
    std::string owner_name;
    std::optional<unsigned> last_set{};
    std::optional<unsigned> last_dry{};
    bool is_the_programs = false;
    bool is_tried = false;                    ///< the last value was set to be measured
    std::vector<const policy_state*> told{};  ///< in a dry run, that another one owns it
};

std::mutex& the_lock() noexcept {
    return quern::detail::lock_of(quern::detail::process_lock::adaptation);
}

constinit process_object<std::vector<owned_knob>> g_table{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_table() { g_table.forget(); }

/// Requires: the lock is held.
std::vector<owned_knob>& the_table() { return g_table.get(); }

/// Null if it has no owner. Requires: the lock is held.
owned_knob* row_of(const knob_wish& what) {
    auto& all = the_table();
    const auto found = std::find_if(all.begin(), all.end(), [&](const owned_knob& each) {
        return each.of == what.of && each.row == what.row;
    });
    return found != all.end() ? &*found : nullptr;
}

}  // namespace

knob_answer ask_for_knob(const knob_wish& what) {
    const std::scoped_lock lock(the_lock());
    owned_knob* one = row_of(what);
    if (one == nullptr) {
        one = &the_table().emplace_back(owned_knob{what.of, what.row, what.owner, what.owner_name});
    }
    if (one->owner != what.owner && what.is_dry) {
        const bool is_told =
            std::find(one->told.begin(), one->told.end(), what.owner) != one->told.end();
        if (!is_told) {
            one->told.push_back(what.owner);
        }
        return is_told ? knob_answer::leave : knob_answer::another_has;
    }
    if (one->owner != what.owner) {
        throw std::logic_error("quern: policy '" + what.owner_name + "' cannot set knob '" +
                               std::string(what.row->name) + "' of pool '" + what.of->name() +
                               "': policy '" + one->owner_name + "' owns it");
    }
    if (one->is_the_programs) {
        return knob_answer::leave;
    }
    if (one->last_set && *one->last_set != what.now) {
        one->is_the_programs = true;
        return knob_answer::program_has;
    }
    const bool is_chosen = std::exchange(one->is_tried, what.is_trial) && !what.is_trial;
    if (what.is_dry) {
        const bool is_known = one->last_dry == what.wanted || what.wanted == what.now;
        one->last_dry = what.wanted;
        return is_known && !is_chosen ? knob_answer::leave : knob_answer::set;
    }
    if (what.wanted == what.now && !is_chosen) {
        one->last_set = what.now;
        return knob_answer::leave;
    }
    return knob_answer::set;
}

void remember_set(const knob_wish& what, unsigned value) noexcept {
    const std::scoped_lock lock(the_lock());
    if (owned_knob* const one = row_of(what); one != nullptr && one->owner == what.owner) {
        one->last_set = value;
    }
}

void forget_owner(const policy_state& which) noexcept {
    const std::scoped_lock lock(the_lock());
    std::erase_if(the_table(), [&](const owned_knob& each) { return each.owner == &which; });
    for (owned_knob& each : the_table()) {
        std::erase(each.told, &which);
    }
}

void forget_owners_of(const quern::detail::pool& which) noexcept {
    std::erase_if(the_table(), [&](const owned_knob& each) { return each.of == &which; });
}

}  // namespace quern::adaptation::detail
