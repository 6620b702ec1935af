// SPDX-License-Identifier: BSL-1.0
// A task's child kind, and its cancellation by a token.
#include "settle.hpp"

#include <utility>

namespace quern::detail {

bool call_item::starts_as_child(const pool& where, std::uint64_t instance) noexcept {
    const child_kind own = detail::kind_of_child(site, name, instance);
    if (own == k_no_kind) {
        return false;
    }
    m_kind_of_child = own;
    worker* const here = current_worker();
    return here != nullptr && &here->home() == &where &&
           detail::begins_in_parent(*here, *this, own);
}

void call_item::settle_with_token(const typed& as, task_body::part_of what) noexcept {
    const stop_signal own(std::move(*as.stop(*this)));
    if (!own.asks_by_token()) [[likely]] {
        const under_signal running(own.if_token(), what == task_body::part_of::caller);
        call_and_drop(as, what);
        return;
    }
    if (as.drop != nullptr) {
        as.drop(*this);
    }
    as.fail(*this, detail::cancelled_task(name));
}

}  // namespace quern::detail
