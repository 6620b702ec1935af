// SPDX-License-Identifier: BSL-1.0
// Output that is written when a runtime ends, and must not be lost when the process ends earlier:
// by Ctrl-C, by exit() while the runtime lives, by abort(). The layers above keep one exit action
// for each output; the runtime itself has none.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace quern::detail {

/// An exit action: a function called once, by its owner, at exit(), or on a thread of Quern's when
/// SIGINT or SIGTERM is about to end the process. Signals are handled only if the program leaves
/// them to the system (SIG_DFL) when the first of these objects is made. A handler that the program
/// installs later replaces Quern's. In the child of a fork() the parent's functions are never
/// called. When the process aborts or crashes there is no call; stderr says what is lost.
class exit_action {
public:
    /// Returns where it wrote, such as "in run.html", or nothing. Must not throw.
    using function = std::function<std::string()>;

    /// `what` names what is lost if it is never called; at most 200 characters are printed. Throws
    /// std::bad_alloc.
    exit_action(const std::string& what, function act);
    /// Waits for a call in progress; prevents later ones.
    ~exit_action();
    exit_action(const exit_action&) = delete;
    exit_action& operator=(const exit_action&) = delete;

    /// Calls the function unless that has been done, and waits for a call in progress. In a task,
    /// which may have little stack left, the call runs on a thread of its own. Thread safe.
    void perform() noexcept;

    struct state;

private:
    std::shared_ptr<state> m_state;
};

}  // namespace quern::detail
