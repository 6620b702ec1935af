// SPDX-License-Identifier: BSL-1.0
// What is to be written when a runtime ends, and must not be lost when the process ends before: by
// Ctrl-C, by exit() while the runtime lives, by abort(). The layers above keep one for each of
// their outputs; the runtime itself has none.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace quern::detail {

/// A function that is called once: by its owner, or at exit(), or when SIGINT or SIGTERM is about
/// to end the process, on a thread of Quern's. The latter when the program leaves the signal to the
/// system (SIG_DFL) while the first of these objects is made; one handler of its own that it
/// installs later replaces Quern's. In the child of a fork() its parent's are never called. When
/// the process aborts or crashes there is no call; stderr says what is lost.
class last_act {
public:
    /// Returns where it has written, such as "in run.html", or nothing. Must not throw.
    using function = std::function<std::string()>;

    /// `what` is what is lost when it is never called; at most 200 characters of it are said.
    /// Throws std::bad_alloc.
    last_act(const std::string& what, function act);
    /// Waits for a call that is going on; later ones do nothing.
    ~last_act();
    last_act(const last_act&) = delete;
    last_act& operator=(const last_act&) = delete;

    /// Calls it unless that has been done, and waits for a call that is going on. In a task, which
    /// may have little stack left, on a thread of its own. Thread safe.
    void perform() noexcept;

    struct state;

private:
    std::shared_ptr<state> m_state;
};

}  // namespace quern::detail
