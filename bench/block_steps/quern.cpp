// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/replay.hpp>

#include <memory>

namespace bench::block_steps {

namespace {

constexpr unsigned k_locality_bytes = 32U << 10;

/// The creator waits between the steps.
void steps(data& x) {
    quern::domain work;
    for (int step = 0; step < k_steps; ++step) {
        for (auto& each : x.first) {
            work.spawn(quern::inout(each), change);
        }
        work.taskwait();
    }
}

void spawn_mixing(quern::domain& work, data& x, long step) {
    auto& from = step % 2 == 0 ? x.first : x.second;
    auto& to = step % 2 == 0 ? x.second : x.first;
    for (std::size_t i = 0; i < x.blocks; ++i) {
        const value& left = from[i == 0 ? x.blocks - 1 : i - 1].back();
        const value& right = from[i + 1 == x.blocks ? 0 : i + 1].front();
        work.spawn(quern::in(left), quern::in(from[i]), quern::in(right), quern::out(to[i]), mix);
    }
}

void stencil(data& x) {
    quern::domain work;
    for (int step = 0; step < k_steps; ++step) {
        spawn_mixing(work, x, step);
    }
    work.taskwait();
}

void replayed(data& x) {
    quern::domain work;
    quern::replay(work, k_steps / 2, [&x, &work](std::int64_t) {
        spawn_mixing(work, x, 0);
        spawn_mixing(work, x, 1);
    });
}

contender registered(const char* variant, void (*how)(data&), unsigned locality_bytes) {
    return {"block_steps", variant, [how, locality_bytes](const arguments& a) {
                return quern_job(a, [x = std::make_shared<data>(a), how, locality_bytes] {
                    quern::current_pool().set_knob("locality-bytes", locality_bytes);
                    return x->measured(how);
                });
            }};
}

const contender steps_placed = registered("steps", steps, k_locality_bytes);
const contender steps_anywhere = registered("steps_anywhere", steps, 0);
const contender stencil_placed = registered("stencil", stencil, k_locality_bytes);
const contender stencil_anywhere = registered("stencil_anywhere", stencil, 0);
const contender replay_placed = registered("replay", replayed, k_locality_bytes);
const contender replay_anywhere = registered("replay_anywhere", replayed, 0);

}  // namespace

}  // namespace bench::block_steps
