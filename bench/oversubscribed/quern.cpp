// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../fib/quern_fib.hpp"
#include "../harness/quern.hpp"

namespace bench::oversubscribed {

namespace {

const disturbed context{"context", [](const arguments& a) {
                            return quern_job(a, fib::repetition_of(fib::from_context, a));
                        }};
const disturbed plain{
    "plain", [](const arguments& a) { return quern_job(a, fib::repetition_of(fib::plain, a)); }};

}  // namespace

}  // namespace bench::oversubscribed
