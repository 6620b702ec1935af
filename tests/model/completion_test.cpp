// SPDX-License-Identifier: BSL-1.0
// The handshake between a context that suspends and the thread that completes its event
// (src/scheduler/README.md, "Suspension"): exactly one of them resumes the context, and never
// before it has left its stack.
#include "protocol.hpp"

#include <quern/scheduler/detail/completion.hpp>

#include <optional>

namespace {

using model::atomic;
using model::run;
using model::var;

struct waiter {
    var<int> frame = 0;  // the context's saved state; only the resuming thread may touch it
    var<int> resumed = 0;
};

using completion = quern::detail::completion<model::protocol_atomics, waiter>;

struct handshake {
    handshake() { done.emplace(); }

    std::optional<completion> done;
    waiter self;
    var<int> result = 0;
    atomic<int> resumptions = 0;

    void resume(waiter& w) {
        w.frame = w.frame + 1;
        resumptions.fetch_add(1, std::memory_order_relaxed);
        done.reset();  // it lies on the frame of the waiter
    }
};

TEST(model_completion, a_waiter_is_resumed_once_and_sees_the_result) {
    model::expect_passes_everywhere("completion", {}, [](run& r) {
        auto& h = r.make<handshake>();
        r.thread([&h] {
            h.self.frame = 1;  // leaving the stack
            if (!h.done->register_waiter(h.self)) {
                model::check(h.result == 7, "the result is visible to the one who came late");
                h.resume(h.self);
            }
        });
        r.thread([&h] {
            h.result = 7;
            if (waiter* w = h.done->complete()) {
                h.resume(*w);
            }
        });
        r.at_end([&h] {
            model::check(h.resumptions.load() == 1, "resumed exactly once");
            model::check(h.self.frame == 2, "on the frame that was left");
        });
    });
}

TEST(model_completion, registering_before_the_stack_is_left_is_found) {
    model::expect_found_broken("early registration", {}, [](run& r) {
        auto& h = r.make<handshake>();
        r.thread([&h] {
            const bool registered = h.done->register_waiter(h.self);
            h.self.frame = 1;  // still on the stack
            if (!registered) {
                h.resume(h.self);
            }
        });
        r.thread([&h] {
            if (waiter* w = h.done->complete()) {
                h.resume(*w);
            }
        });
    });
}

TEST(model_completion, a_poller_sees_the_result) {
    model::expect_passes_everywhere("completion, polled", {}, [](run& r) {
        auto& h = r.make<handshake>();
        r.thread([&h] {
            for (int i = 0; i < 2; ++i) {
                if (h.done->done()) {
                    model::check(h.result == 7, "the result is visible");
                    return;
                }
            }
        });
        r.thread([&h] {
            h.result = 7;
            model::check(h.done->complete() == nullptr, "nobody registered");
        });
    });
}

}  // namespace
