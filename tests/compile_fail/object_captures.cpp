// SPDX-License-Identifier: BSL-1.0
// A capture stays at the caller's locality: what a call of a global object needs are arguments.
#include <quern/localities/object.hpp>

struct counter {
    int value = 0;
};

int add(const quern::localities::object<counter>& to, int x) {
#ifdef QUERN_MUST_COMPILE
    return to.call([](counter& of, int y) { return of.value += y; }, x).get();
#else
    return to.call([x](counter& of) { return of.value += x; }).get();
#endif
}

int main() {}
