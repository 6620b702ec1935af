// SPDX-License-Identifier: BSL-1.0
// The exceptions for attributes that a construct does not accept.
#include <quern/task/attributes.hpp>

#include <stdexcept>
#include <string>

namespace quern::detail {

void refuse_attributes(const task_attributes& wanted) {
    if (wanted.communication) {
        throw std::invalid_argument(
            "quern: the attribute .communication = true is only for tasks of async, post and of a "
            "quern::domain");
    }
    const char* const which = !wanted.deferred ? "deferred = false"
                              : wanted.final   ? "final = true"
                                               : "wait = true";
    throw std::invalid_argument(std::string("quern: the attribute .") + which +
                                " is only for tasks of a quern::domain");
}

void require_async_for_communication(launch how) {
    if ((how & launch::async) != launch::async) {
        throw std::invalid_argument(
            "quern: a task with .communication = true is queued: `how` must be launch::async");
    }
}

}  // namespace quern::detail
