// SPDX-License-Identifier: BSL-1.0
// A state that a timer makes ready. The timer only queues it: its waiters may run user code, which
// must not happen between two items of a worker.
#include <quern/task/ready_at.hpp>

#include <quern/scheduler/detail/pool.hpp>

namespace quern::detail {

namespace {

class timed_state final : public shared_state<void>, public runnable, public timer {
public:
    /// Two references: the future's and the timer's.
    explicit timed_state(pool& where) noexcept
        : shared_state<void>(2, [](state_base& self) noexcept { delete &cast(self); }),
          runnable(run_queued),
          timer([](timer& t) noexcept {
              auto& self = static_cast<timed_state&>(t);
              self.m_pool.inject(self);  // queued last, like all expired timers
          }),
          m_pool(where) {}

private:
    static timed_state& cast(state_base& self) noexcept {
        return static_cast<timed_state&>(static_cast<shared_state<void>&>(self));
    }
    static context* run_queued(work& item) {
        auto& self = static_cast<timed_state&>(static_cast<runnable&>(item));
        self.set_value();
        self.release();
        return nullptr;
    }

    pool& m_pool;
};

}  // namespace

future<void> ready_at(timer::clock::time_point due) {
    pool& where = current_pool().get();  // may start the default runtime, and throw
    auto* state = new timed_state(where);
    future<void> result{state_ref<shared_state<void>>(state)};
    where.set_timer(*state, due);
    if (where.gate().load().must_wake()) {
        where.wake_one(0);  // the caller may run for long: another worker watches the timer
    }
    return result;
}

}  // namespace quern::detail
