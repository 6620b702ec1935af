// SPDX-License-Identifier: BSL-1.0
// A source of the layer base must not see a higher layer: its include path has none.
#include <quern/version.hpp>

#ifndef QUERN_MUST_COMPILE
#    include <quern/scheduler/detail/worker.hpp>
#endif

int main() { return QUERN_VERSION_MAJOR; }
