// SPDX-License-Identifier: BSL-1.0
// What reports say of dependent tasks: who waits for which access. Called while tasks run; memory
// of tasks is copied by a system call, since it may be gone.
#pragma once

#include <quern/scheduler/detail/explaining.hpp>

namespace quern::detail {

class domain_shared;
struct access_waiter;

/// The tasks that wait for the accesses of a task. `front_end`: of its record.
void explain_dependent_task(const void* front_end, explanations& into);

/// Of a domain whose owner waits: its tasks that have returned and wait for children or are held,
/// also within its tasks.
void explain_domain(const domain_shared* waited_for, explanations& into);

/// Of a taskwait(on()): what it wants, and the same of its domain.
void explain_waiter(const access_waiter& copy, explanations& into);

}  // namespace quern::detail
