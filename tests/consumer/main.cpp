// SPDX-License-Identifier: BSL-1.0
// What a project of someone else's looks like: the umbrella header and one library. Every consumer
// project beside this file compiles it, each finding Quern in its own way. Must use nothing but the
// public interface.
#include <quern/quern.hpp>
#include <quern/version.hpp>

#include <cstdio>
#include <cstring>

#ifndef __cpp_concepts
#    error "Quern must ask its user for C++20"
#endif

int main() {
    std::printf("quern %s\n", QUERN_VERSION_STRING);
    const bool runs = quern::async([] { return 42; }).get() == 42;  // and so links everything
    return runs && std::strcmp(QUERN_VERSION_STRING, EXPECTED_VERSION) == 0 ? 0 : 1;
}
