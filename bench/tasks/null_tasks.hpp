// SPDX-License-Identifier: BSL-1.0
// Tasks without work, for the problems that consist only of tasks, and the proof that each of them
// was run. The timed tasks have only a compiler barrier for a body: counting would cost more than
// the best runtimes' tasks. So a process begins with an untimed run, by the same code, of tasks
// that each mark a byte: every one must have run exactly once. `inlined` is the number of tasks
// that their spawn ran itself: all, if it waits for its task.
#pragma once

#include "../harness/harness.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace bench {

/// The timed tasks.
struct null_tasks {
    struct task {
        void operator()() const noexcept { asm volatile("" ::: "memory"); }
    };

    task operator[](long) const noexcept { return {}; }

    /// Calls launch(task), which passes the task with this number to the runtime.
    template <class Launch>
    void spawn(long number, Launch&& launch) const {
        launch((*this)[number]);
    }
};

/// Whether the calling thread is in a spawn. Tasks read it on the thread that runs them, so a task
/// that a spawn runs itself is told from a queued one.
inline thread_local bool spawning = false;

/// The tasks of the first run: each has a byte of its own to mark.
struct signing_tasks {
    static constexpr unsigned char k_inlined = 0x80;  // beside the number of times

    struct task {
        unsigned char* mark;
        void operator()() const noexcept {
            *mark = static_cast<unsigned char>((*mark + 1) | (spawning ? k_inlined : 0));
        }
    };

    unsigned char* marks;

    task operator[](long number) const noexcept { return {marks + number}; }

    template <class Launch>
    void spawn(long number, Launch&& launch) const {
        spawning = true;
        launch((*this)[number]);
        spawning = false;
    }
};

/// A repetition: times run(tasks, count), which runs every task, with the timed tasks; the first
/// repetition follows a run of the marking tasks.
template <class Run>
class null_problem {
public:
    null_problem(long count, Run run) : m_state(std::make_shared<state>(count, std::move(run))) {}

    measurement operator()() const { return m_state->repeat(); }

private:
    struct state {
        state(long n, Run r) : run(std::move(r)), count(n) {}

        measurement repeat() {
            if (!checked) {
                check();
            }
            measurement m = timed_runs([this] {
                const double start = now();
                run(null_tasks{}, count);
                return now() - start;
            });
            m.more["inlined"] = inlined;
            return m;
        }

        void check() {
            std::vector<unsigned char> marks(static_cast<std::size_t>(count));
            run(signing_tasks{marks.data()}, count);
            for (const unsigned char mark : marks) {
                expect_equal("how often a task ran", mark & ~signing_tasks::k_inlined, 1);
                inlined += (mark & signing_tasks::k_inlined) != 0 ? 1 : 0;
            }
            checked = true;
        }

        Run run;
        long count;
        bool checked = false;
        double inlined = 0;
    };

    std::shared_ptr<state> m_state;
};

}  // namespace bench
