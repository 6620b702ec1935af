// SPDX-License-Identifier: BSL-1.0
// Formats a result as a test's message. Called by tests; decides nothing. The machine writes the
// trace itself, line by line, when a failing execution is repeated.
#include "explorer.hpp"

namespace model {

const char* to_string(failure kind) noexcept {
    switch (kind) {
        case failure::none:
            return "passed";
        case failure::check:
            return "check failed";
        case failure::race:
            return "data race";
        case failure::lifetime:
            return "lifetime error";
        case failure::deadlock:
            return "deadlock";
        case failure::livelock:
            return "livelock";
        case failure::exception:
            return "exception";
        case failure::misuse:
            return "the model is not usable";
    }
    return "?";
}

std::string result::report() const {
    std::string text = to_string(kind);
    if (!message.empty()) text += ": " + message;
    text += "\n" + std::to_string(executions) + " executions, " + std::to_string(redundant) +
            " redundant, " + std::to_string(steps) + " steps in " + std::to_string(seconds) +
            " s, longest " + std::to_string(longest) +
            (exhaustive ? ", exhaustive\n" : ", NOT exhaustive\n");
    if (!trace.empty()) text += "interleaving (step, thread, operation):\n" + trace;
    if (!replay.empty()) text += "replay = \"" + replay + "\"\n";
    return text;
}

}  // namespace model
