// SPDX-License-Identifier: BSL-1.0
// Which policy owns which knob of which pool, and what it has set last: one owner at a time, and
// the program's own value wins. Called by policy_context::set and where policies and runtimes end.
// Never reads or writes a knob: those are functions of the program.
#pragma once

#include <quern/scheduler/knobs.hpp>

#include <cstdint>
#include <string>

namespace quern::adaptation::detail {

class policy_state;

/// What a policy wants of a knob.
struct knob_wish {
    const policy_state* owner = nullptr;
    const std::string& owner_name;
    const quern::detail::pool* of = nullptr;
    const knob* row = nullptr;
    unsigned now = 0;
    unsigned wanted = 0;
    bool is_dry = false;
    bool is_trial = false;
};

enum class knob_answer : std::uint8_t {
    set,          ///< set it, and remember_set(); of a dry run: log it
    leave,        ///< nothing to do or to log
    program_has,  ///< the program has set it since: log that, once
    another_has,  ///< of a dry run: another policy would be its owner: log that, once
};

/// Makes the policy the owner if there is none. Throws std::logic_error that names another owner
/// unless it is a dry run, and std::bad_alloc.
knob_answer ask_for_knob(const knob_wish& what);

/// The knob has this value after the owner's set.
void remember_set(const knob_wish& what, unsigned value) noexcept;

void forget_owner(const policy_state& which) noexcept;
/// Requires: the lock `adaptation` is held.
void forget_owners_of(const quern::detail::pool& which) noexcept;

}  // namespace quern::adaptation::detail
