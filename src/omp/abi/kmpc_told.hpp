// SPDX-License-Identifier: BSL-1.0
// What entry points of clang's programs tell a tool.
#pragma once

#include "abi/kmpc.hpp"
#include "abi/kmpc_tasks.hpp"
#include "tools/tools.hpp"

namespace quern::omp {

/// A task that is to run or to be queued. One without owner tells of itself when it runs.
void tell_created(const kmpc_head& head, unsigned flags, bool has_dependences) noexcept;
/// For a tool, if there is one: a task with dependences is about to be queued.
void tell_task_with_dependences(const kmpc_head& head) noexcept;
/// For a tool: between begin_if0 and complete_if0.
void tell_undeferred_begins(kmpc_head& head) noexcept;
void tell_undeferred_ends(const kmpc_head& head) noexcept;

/// clang tells which barriers the program has not written.
tools::sync kind_of_barrier(const kmpc_place* place) noexcept;
bool enters_masked(std::int32_t filter, const void* caller) noexcept;
void leave_masked(const void* caller) noexcept;

}  // namespace quern::omp
