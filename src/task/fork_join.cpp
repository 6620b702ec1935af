// SPDX-License-Identifier: BSL-1.0
// The slow path of a join.
#include <quern/task/fork_join.hpp>

#include <quern/scheduler/detail/branches.hpp>

namespace quern::detail {

bool join_child(fork_slot* slot) noexcept {
    context& place = context::of(slot);
    fork_entry& child = **slot;
    if (!place.join(slot)) {
        return false;
    }
    if (!has_own_branches(place.root().task())) [[likely]] {
        return true;
    }
    place.publish_all();  // what the join took back of older children
    {
        const branch_record own(place, child.run);
        child.run(child);
    }
    *slot = &child;  // its own children were there
    return false;
}

}  // namespace quern::detail
