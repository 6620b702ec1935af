// SPDX-License-Identifier: BSL-1.0
// Tasks without work, for the problems that have nothing but tasks, and the proof that each of them
// was run. What is timed has only a compiler barrier for a body: anything that counted would cost
// more than the best runtimes' tasks. So a process begins with a run that is not timed, by the same
// code with tasks that sign for themselves: every one must have run exactly once. How many of them
// the spawn that made them ran itself is told as `inlined`: all, where it waits for its task.
#pragma once

#include "../harness/harness.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace bench {

/// What is timed.
struct null_tasks {
    struct task {
        void operator()() const noexcept { asm volatile("" ::: "memory"); }
    };

    task operator[](long) const noexcept { return {}; }

    /// Calls launch(task), which gives the task with this number to the runtime.
    template <class Launch>
    void spawn(long number, Launch&& launch) const {
        launch((*this)[number]);
    }
};

/// Whether the calling thread is in a spawn. Tasks read it where they run, so one that a spawn runs
/// itself can be told from one that was queued.
inline thread_local bool spawning = false;

/// What is run before that: each task has a byte of its own to sign in.
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

/// A repetition: run(tasks, count), which runs every task, timed with those that do nothing; the
/// first time after a run with those that sign.
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
