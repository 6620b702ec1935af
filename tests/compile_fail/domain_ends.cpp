// SPDX-License-Identifier: BSL-1.0
// A task knows its domain as domain_shared; only the owner ends it.
#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/domain_core.hpp>

void end(quern::detail::dependent_task& task) {
#ifdef QUERN_MUST_COMPILE
    task.own_domain().parent_ends();
#else
    task.home().parent_ends();
#endif
}

int main() {}
