// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"
#include "quern_fib.hpp"

#include "../harness/quern.hpp"

namespace bench::fib {

namespace {

const contender context{"fib", "context", [](const arguments& a) {
                            return quern_job(a, repetition_of(from_context, a));
                        }};
const contender without_context{
    "fib", "plain", [](const arguments& a) { return quern_job(a, repetition_of(plain, a)); }};
const contender future{"fib", "future", [](const arguments& a) {
                           return quern_job(a, repetition_of(with_future, a));
                       }};

}  // namespace

}  // namespace bench::fib
