// SPDX-License-Identifier: BSL-1.0
// The functions of a program that need no type: the end of a domain, taskwait, children.
#include <quern/dependences/domain.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/dependences/spawn.hpp>

#include <stdexcept>
#include <string>

namespace quern {

domain::~domain() {
    QUERN_ASSERT(m_core.owned_here(),
                 "a domain was destroyed by a task or thread that did not make it");
    m_core.wait_for_all();
    m_core.report_unobserved();
}

void domain::taskwait() {
    m_core.require_owner("taskwait");
    m_core.taskwait();
}

namespace detail {

domain_core& domain_of_running(const char* function) {
    dependent_task* const running = dependent_task::current();
    if (running == nullptr) {
        throw std::logic_error(std::string("quern::") + function +
                               "() was called outside of a dependent task: make a quern::domain");
    }
    return running->own_domain();
}

}  // namespace detail

void taskwait() { detail::domain_of_running("taskwait").taskwait(); }

}  // namespace quern
