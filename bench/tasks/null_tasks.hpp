// SPDX-License-Identifier: BSL-1.0
// Tasks without work, for the problems that have nothing but tasks, and the proof that each of them
// was run. What is timed has only a compiler barrier for a body: anything that counted would cost
// more than the best runtimes' tasks. So each repetition begins with a run that is not timed, by
// the same code with tasks that sign for themselves: every one must have run exactly once, and how
// many ran in the spawn that made them is told as `inlined`.
#pragma once

#include "../harness/harness.hpp"

#include <memory>
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

/// Runs run(tasks, count), which runs every task, first with those that sign and then timed with
/// those that do nothing.
template <class Run>
class null_problem {
public:
    null_problem(long count, Run run)
        : m_run(std::move(run)),
          m_marks(std::make_shared<marks>(static_cast<std::size_t>(count))) {}

    measurement operator()() const {
        const double inlined = count_inlined();
        const long count = static_cast<long>(m_marks->size());
        measurement m = timed_runs([&] {
            const double start = now();
            m_run(null_tasks{}, count);
            return now() - start;
        });
        m.more["inlined"] = inlined;
        return m;
    }

private:
    using marks = std::vector<unsigned char>;

    double count_inlined() const {
        m_marks->assign(m_marks->size(), 0);
        m_run(signing_tasks{m_marks->data()}, static_cast<long>(m_marks->size()));
        double inlined = 0;
        for (const unsigned char mark : *m_marks) {
            expect_equal("how often a task ran", mark & ~signing_tasks::k_inlined, 1);
            inlined += (mark & signing_tasks::k_inlined) != 0 ? 1 : 0;
        }
        return inlined;
    }

    Run m_run;
    std::shared_ptr<marks> m_marks;  // made once, so that it is no growth of a repetition
};

}  // namespace bench
