// SPDX-License-Identifier: BSL-1.0
// A source of the layer base must not see a higher layer: the include path of its compilation does
// not hold one.
#include <quern/version.hpp>

#ifndef QUERN_MUST_COMPILE
#    include <quern/scheduler/worker.hpp>
#endif

int main() { return QUERN_VERSION_MAJOR; }
