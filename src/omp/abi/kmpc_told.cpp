// SPDX-License-Identifier: BSL-1.0
// What entry points of clang's programs tell a tool.
#include "abi/kmpc_told.hpp"

#include "core/team.hpp"

namespace quern::omp {

void tell_created(const kmpc_head& head, unsigned flags, bool has_dependences) noexcept {
    if (tools::is_active() && head.owner != nullptr) [[unlikely]] {
        const unsigned untied = (head.flags & 1) == 0 ? tools::k_untied_task : 0;
        tools::task_created(*head.owner, flags | untied, has_dependences);
    }
}

void tell_task_with_dependences(const kmpc_head& head) noexcept { tell_created(head, 0, true); }

void tell_undeferred_begins(kmpc_head& head) noexcept {
    if (head.owner != nullptr) {
        tell_created(head, tools::k_undeferred_task, false);
        tools::task_begins(*head.owner);
    } else {
        const unsigned more = head.included->is_final ? tools::k_final_task : 0;
        tools::included_begins(tools::k_undeferred_task | more);
    }
}

void tell_undeferred_ends(const kmpc_head& head) noexcept {
    if (head.owner != nullptr) {
        tools::task_ends(*head.owner, tools::status::complete);
    } else {
        tools::included_ends(tools::present_record());
    }
}

tools::sync kind_of_barrier(const kmpc_place* place) noexcept {
    constexpr std::int32_t k_is_implicit = 0x40;
    return place != nullptr && (place->flags & k_is_implicit) != 0 ? tools::sync::barrier_workshare
                                                                   : tools::sync::barrier_explicit;
}

bool enters_masked(std::int32_t filter, const void* caller) noexcept {
    const bool enters = static_cast<std::int32_t>(this_member().number) == filter;
    if (enters && tools::is_active()) [[unlikely]] {
        tools::tell_masked(tools::k_begin, caller);
    }
    return enters;
}

void leave_masked(const void* caller) noexcept {
    if (tools::is_active()) [[unlikely]] {
        tools::tell_masked(tools::k_end, caller);
    }
}

}  // namespace quern::omp
