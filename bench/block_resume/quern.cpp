// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <atomic>
#include <optional>

namespace bench::block_resume {

namespace {

struct semaphore_place {
    void wait() noexcept { m_semaphore.acquire(); }
    void signal() noexcept { m_semaphore.release(); }

private:
    quern::binary_semaphore m_semaphore{0};
};

struct event_place {
    void wait() noexcept {
        m_event.wait();
        m_event.reset();
    }
    void signal() noexcept { m_event.set(); }

private:
    quern::event m_event;
};

/// The bare suspension, with a minimal protocol.
class suspended_place {
public:
    void wait() {
        quern::this_task::suspend([this](quern::suspended_task me) {
            m_waits.emplace(std::move(me));
            // acq_rel: pairs with the one in signal()
            if (m_state.exchange(waits, std::memory_order_acq_rel) == has_token) {
                resume();
            }
        });
    }
    void signal() noexcept {
        // acq_rel: pairs with the one in wait()
        if (m_state.exchange(has_token, std::memory_order_acq_rel) == waits) {
            resume();
        }
    }

private:
    enum state { nothing, waits, has_token };

    void resume() noexcept {
        m_state.store(nothing, std::memory_order_relaxed);  // resume() publishes it
        m_waits->resume();
    }

    std::atomic<state> m_state{nothing};
    std::optional<quern::suspended_task> m_waits;
};

template <class Place>
job in_tasks(const arguments& a) {
    return quern_job(a, [size = a.size] {
        ring<Place> tasks(size);
        quern::task_group group;
        for (long i = 0; i < size; ++i) {
            group.run([&tasks, i] { tasks.take_part(i); });
        }
        tasks.put_token();
        group.wait();
        return tasks.result();
    });
}

const contender semaphore{"block_resume", "semaphore", in_tasks<semaphore_place>};
const contender event{"block_resume", "event", in_tasks<event_place>};
const contender suspend{"block_resume", "suspend", in_tasks<suspended_place>};

}  // namespace

}  // namespace bench::block_resume
