// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/starpu.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace bench::many_dependent {

namespace {

value& number(void* buffer) { return *reinterpret_cast<value*>(STARPU_VARIABLE_GET_PTR(buffer)); }

starpu_codelet codelet_of(void (*f)(void**, void*),
                          std::initializer_list<starpu_data_access_mode> modes) {
    starpu_codelet made;
    starpu_codelet_init(&made);
    made.cpu_funcs[0] = f;
    made.nbuffers = static_cast<int>(modes.size());
    std::copy(modes.begin(), modes.end(), made.modes);
    return made;
}

starpu_codelet step_codelet =
    codelet_of([](void** buffers, void*) { step(number(buffers[0]), number(buffers[1])); },
               {STARPU_R, STARPU_RW});
starpu_codelet link_codelet =
    codelet_of([](void** buffers, void*) { link(number(buffers[0])); }, {STARPU_RW});

value many(long tasks) {
    table t{};
    {
        const starpu_handles handles(t);
        for (long i = 0; i < tasks; ++i) {
            starpu_task* const task = starpu_task_create();
            task->cl = &step_codelet;
            task->handles[0] = handles[read_by(i)];
            task->handles[1] = handles[changed_by(i)];
            starpu_runtime::check(starpu_task_submit(task), "starpu_task_submit");
        }
        starpu_runtime::check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    }
    return sum_of(t);
}

value chain(long tasks) {
    std::array<value, 1> v{};
    {
        const starpu_handles handles(v);
        for (long i = 0; i < tasks; ++i) {
            starpu_task* const task = starpu_task_create();
            task->cl = &link_codelet;
            task->handles[0] = handles[0];
            starpu_runtime::check(starpu_task_submit(task), "starpu_task_submit");
        }
        starpu_runtime::check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    }
    return v[0];
}

const contender data{"many_dependent", "data", [](const arguments& a) {
                         return starpu_job(a, [n = a.size, answer = serial_sum(a.size)] {
                             return compared([n] { return many(n); }, answer);
                         });
                     }};
const contender data_chain{"dependent_chain", "data", [](const arguments& a) {
                               return starpu_job(a, [n = a.size, answer = serial_chain(a.size)] {
                                   return compared([n] { return chain(n); }, answer);
                               });
                           }};

}  // namespace

}  // namespace bench::many_dependent
