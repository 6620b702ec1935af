// SPDX-License-Identifier: BSL-1.0
// The accesses of a translated source as those of a domain, and its reductions.
#pragma once

#include "packed_call.hpp"

#include <quern/dependences/access_list.hpp>
#include <quern/dependences/domain.hpp>

#include <span>

namespace quern::task_functions {

/// Adds it with its kind; a reduction as commutative. Throws std::invalid_argument, as the accesses
/// do, and for more than four dimensions.
void add_region(access_list& to, const quern_task_region& from);

/// Whether the operator and the type of its elements are known, so that add_reduction() can be
/// called.
bool is_reduction(const quern_task_region& region) noexcept;

/// Adds a task with that reduction beside the other accesses.
void add_reduction(domain& to, const task_attributes& how, const access_list& others,
                   const quern_task_region& region, packed_call call);
/// The same for a child of the running dependent task.
void add_reduction(const task_attributes& how, const access_list& others,
                   const quern_task_region& region, packed_call call);

}  // namespace quern::task_functions
