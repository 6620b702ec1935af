// SPDX-License-Identifier: BSL-1.0
// clang's entry points for taskgroups and reductions by tasks. Each member that takes part has a
// copy of each variable, made at its first use; the end of the taskgroup adds them up.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc_tasks.hpp"
#include "tools/tools.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <vector>

using namespace quern::omp;

namespace {

struct reduced_variable {
    kmpc_reduction what;
    std::vector<void*> copies;  ///< one for each member, null before its first use
};

struct reduced_variables {
    std::vector<reduced_variable> all;
};

constexpr std::align_val_t k_copy_alignment{64};

/// The copies of a variable that is known by its own address, that from which copies begin, or that
/// of a copy.
reduced_variable* find_variable(const task_group& within, const void* address) noexcept {
    auto* const known = static_cast<reduced_variables*>(within.reductions);
    if (known == nullptr) {
        return nullptr;
    }
    for (reduced_variable& each : known->all) {
        if (each.what.shared == address || each.what.original == address) {
            return &each;
        }
        for (const void* const copy : each.copies) {
            if (copy == address) {
                return &each;
            }
        }
    }
    return nullptr;
}

void* copy_for(const member& here, reduced_variable& of) {
    void*& copy = of.copies[here.number];
    if (copy == nullptr) {
        void* const made = ::operator new(of.what.size, k_copy_alignment);
        if (of.what.initialize != nullptr) {
            of.what.initialize(made,
                               of.what.original != nullptr ? of.what.original : of.what.shared);
        } else {
            std::memset(made, 0, of.what.size);
        }
        copy = made;
    }
    return copy;
}

void add_up(task_group& ended) noexcept {
    const std::unique_ptr<reduced_variables> all(static_cast<reduced_variables*>(ended.reductions));
    ended.reductions = nullptr;
    if (all == nullptr) {
        return;
    }
    for (const reduced_variable& each : all->all) {
        for (void* const copy : each.copies) {
            if (copy == nullptr) {
                continue;
            }
            each.what.combine(each.what.shared, copy);
            if (each.what.destroy != nullptr) {
                each.what.destroy(copy);
            }
            ::operator delete(copy, k_copy_alignment);
        }
    }
}

void begin_taskgroup(member& here) {
    auto* const group = new task_group;
    group->outer = here.current->group;
    if (group->outer != nullptr) {
        group->described_reductions = group->outer->described_reductions;
    }
    here.current->group = group;
    if (tools::is_active()) [[unlikely]] {
        tools::tell_sync(tools::sync::taskgroup, tools::k_begin, nullptr);
    }
}

void end_taskgroup(member& here) {
    task_group* const group = here.current->group;
    if (group == nullptr) {
        fatal("a taskgroup ends that has not begun");
    }
    tools::end_group([&] {
        wait_for_lone_events(here);
        wait_for_group(here, *group);
    });
    here.current->group = group->outer;
    add_up(*group);
    delete group;
}

void* begin_reductions(member& here, std::int32_t count, const kmpc_reduction* variables) {
    task_group* const group = here.current->group;
    if (group == nullptr) {
        fatal("a reduction by tasks without a taskgroup");
    }
    if (here.of->size == 1) {
        return group;  // tasks use the variables themselves
    }
    auto* const made = new reduced_variables;
    for (std::int32_t i = 0; i < count; ++i) {
        made->all.push_back({variables[i], std::vector<void*>(here.of->size)});
    }
    group->reductions = made;
    return group;
}

struct old_reduction {
    void* shared;
    std::size_t size;
    void (*initialize)(void* copy, void*);
    void (*destroy)(void* copy);
    void (*combine)(void* into, void* from);
    std::uint32_t flags;
};
static_assert(sizeof(old_reduction) == 48);

std::vector<kmpc_reduction> with_originals(std::int32_t count, const old_reduction* variables) {
    std::vector<kmpc_reduction> all;
    for (std::int32_t i = 0; i < count; ++i) {
        const old_reduction& each = variables[i];
        all.push_back({each.shared, each.shared, each.size, each.initialize, each.destroy,
                       each.combine, each.flags});
    }
    return all;
}

}  // namespace

QUERN_OMP_ENTRY void __kmpc_taskgroup(kmpc_place*, std::int32_t) { begin_taskgroup(this_member()); }
QUERN_OMP_ENTRY void __kmpc_end_taskgroup(kmpc_place*, std::int32_t) {
    end_taskgroup(this_member());
}

QUERN_OMP_ENTRY void* __kmpc_taskred_init(std::int32_t, std::int32_t count,
                                          const kmpc_reduction* variables) {
    return begin_reductions(this_member(), count, variables);
}

// reduction(task, ...) of a region or a loop: each member has a taskgroup, whose tasks add to the
// copy of that member.
QUERN_OMP_ENTRY void* __kmpc_taskred_modifier_init(kmpc_place*, std::int32_t, std::int32_t,
                                                   std::int32_t count,
                                                   const kmpc_reduction* variables) {
    member& here = this_member();
    begin_taskgroup(here);
    return begin_reductions(here, count, variables);
}
// Code of clang before 10 has no originals: the descriptions are one word shorter.
QUERN_OMP_ENTRY void* __kmpc_task_reduction_init(std::int32_t, std::int32_t count,
                                                 const old_reduction* variables) {
    const std::vector<kmpc_reduction> all = with_originals(count, variables);
    return begin_reductions(this_member(), count, all.data());
}
QUERN_OMP_ENTRY void* __kmpc_task_reduction_modifier_init(kmpc_place*, std::int32_t, std::int32_t,
                                                          std::int32_t count,
                                                          const old_reduction* variables) {
    member& here = this_member();
    const std::vector<kmpc_reduction> all = with_originals(count, variables);
    begin_taskgroup(here);
    return begin_reductions(here, count, all.data());
}
QUERN_OMP_ENTRY void __kmpc_task_reduction_modifier_fini(kmpc_place*, std::int32_t, std::int32_t) {
    end_taskgroup(this_member());
}

QUERN_OMP_ENTRY void* __kmpc_task_reduction_get_th_data(std::int32_t, void* from, void* address) {
    const member& here = this_member();
    if (here.of->size == 1) {
        return address;
    }
    const auto* group =
        from != nullptr ? static_cast<const task_group*>(from) : here.current->group;
    for (; group != nullptr; group = group->outer) {
        if (reduced_variable* const found = find_variable(*group, address)) {
            return copy_for(here, *found);
        }
    }
    fatal("in_reduction of a variable (%p) that no taskgroup around reduces", address);
}

// NOLINTEND(readability-identifier-naming)
