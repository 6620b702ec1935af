// SPDX-License-Identifier: BSL-1.0
// sync and algorithms are on one line of the layer list: neither may include the other.
#include <quern/version.hpp>

#ifndef QUERN_MUST_COMPILE
#    include <quern/algorithms/for_each.hpp>
#endif

int main() { return QUERN_VERSION_MAJOR; }
