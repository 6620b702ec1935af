// SPDX-License-Identifier: BSL-1.0
// The counts and times of calls of MPI as one sentence.
#include "analyse/communication.hpp"

#include "analyse/words.hpp"

#include <algorithm>

namespace quern::trace::detail {

std::string communication_words(const communication& talk) {
    std::string words = "Communication: " + count_words(talk.sent, "message") + " sent and " +
                        count_words(talk.received) + " received, " +
                        quern::detail::bytes_words(static_cast<double>(talk.bytes)) + ". ";
    if (talk.waiting_ns <= 0.0) {
        return words + "No task waited in a call.";
    }
    const double share = std::clamp(talk.hidden_ns / talk.waiting_ns, 0.0, 1.0);
    const double open_ns = std::max(talk.waiting_ns - talk.hidden_ns, 0.0);
    return words + "Tasks waited " + duration_words(talk.waiting_ns) + " in calls; " +
           percent_words(share) +
           " of that was hidden: meanwhile the worker that the task had left did other work. "
           "The other " +
           duration_words(open_ns) + " the worker had none.";
}

}  // namespace quern::trace::detail
