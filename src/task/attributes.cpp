// SPDX-License-Identifier: BSL-1.0
#include <quern/task/attributes.hpp>

#include <stdexcept>
#include <string>

namespace quern::detail {

void refuse_dependent(const task_attributes& wanted) {
    const char* const which = !wanted.deferred ? "deferred = false"
                              : wanted.final   ? "final = true"
                                               : "wait = true";
    throw std::invalid_argument(std::string("quern: the attribute .") + which +
                                " is for tasks of a quern::domain alone");
}

}  // namespace quern::detail
