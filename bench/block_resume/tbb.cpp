// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>

namespace bench::block_resume {

namespace {

/// oneTBB has no class that suspends a task; its documentation recommends building one like this.
class suspended_place {
public:
    void wait() {
        tbb::task::suspend([this](tbb::task::suspend_point me) {
            m_waits = me;
            // acq_rel: pairs with the one in signal()
            if (m_state.exchange(waits, std::memory_order_acq_rel) == has_token) {
                resume();
            }
        });
    }
    void signal() {
        // acq_rel: pairs with the one in wait()
        if (m_state.exchange(has_token, std::memory_order_acq_rel) == waits) {
            resume();
        }
    }

private:
    enum state { nothing, waits, has_token };

    void resume() {
        m_state.store(nothing, std::memory_order_relaxed);  // resume() publishes it
        tbb::task::resume(m_waits);
    }

    std::atomic<state> m_state{nothing};
    tbb::task::suspend_point m_waits = nullptr;
};

const contender suspend{"block_resume", "suspend", [](const arguments& a) {
                            return tbb_job(a, [size = a.size] {
                                ring<suspended_place> tasks(size);
                                tbb::task_group group;
                                for (long i = 0; i < size; ++i) {
                                    group.run([&tasks, i] { tasks.take_part(i); });
                                }
                                tasks.put_token();
                                group.wait();
                                return tasks.result();
                            });
                        }};

}  // namespace

}  // namespace bench::block_resume
