// SPDX-License-Identifier: BSL-1.0
// The wait reason of events for reports.
#include <quern/sync/event.hpp>

#include "words.hpp"

namespace quern {

constexpr detail::wait_kind event::k_wait{"event", sizeof(event), look};

void event::look(const void* copy, detail::wait_findings& into) noexcept {
    detail::say(into, static_cast<const event*>(copy)->is_set() ? "set" : "not set");
}

}  // namespace quern
