// SPDX-License-Identifier: BSL-1.0
// A pointer means nothing at another locality, also as a member of a member.
#include <quern/localities/archive.hpp>

#include <string>
#include <vector>

struct name {
#ifdef QUERN_MUST_COMPILE
    std::string text;
#else
    const char* text;
#endif
};

struct person {
    int age;
    std::vector<name> names;
};

int main() { quern::localities::require_can_travel<person>(); }
