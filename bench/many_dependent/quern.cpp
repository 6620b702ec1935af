// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>

namespace bench::many_dependent {

namespace {

value many(long tasks) {
    table t{};
    quern::domain work;
    for (long i = 0; i < tasks; ++i) {
        work.spawn(quern::in(t[read_by(i)]), quern::inout(t[changed_by(i)]), step);
    }
    work.taskwait();
    return sum_of(t);
}

value chain(long tasks) {
    value v = 0;
    quern::domain work;
    for (long i = 0; i < tasks; ++i) {
        work.spawn(quern::inout(v), link);
    }
    work.taskwait();
    return v;
}

const contender domain{"many_dependent", "domain", [](const arguments& a) {
                           return quern_job(a, [n = a.size, answer = serial_sum(a.size)] {
                               return compared([n] { return many(n); }, answer);
                           });
                       }};
const contender domain_chain{"dependent_chain", "domain", [](const arguments& a) {
                                 return quern_job(a, [n = a.size, answer = serial_chain(a.size)] {
                                     return compared([n] { return chain(n); }, answer);
                                 });
                             }};

}  // namespace

}  // namespace bench::many_dependent
