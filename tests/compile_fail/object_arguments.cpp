// SPDX-License-Identifier: BSL-1.0
// A call of a global object by a function that does not take it.
#include <quern/localities/object.hpp>

struct counter {
    int value = 0;
    int add(int n) { return value += n; }
};

int add(const quern::localities::object<counter>& to) {
#ifdef QUERN_MUST_COMPILE
    return to.call(&counter::add, 1).get();
#else
    return to.call(&counter::add).get();
#endif
}

int main() {}
