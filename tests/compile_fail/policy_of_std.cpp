// SPDX-License-Identifier: BSL-1.0
// The policies are those of namespace quern.
#include <quern/algorithms/sort.hpp>

#include <execution>
#include <vector>

#ifdef QUERN_MUST_COMPILE
using quern::par;
#else
using std::execution::par;
#endif

int main() {
    std::vector<int> x{2, 1};
    quern::sort(par, x.begin(), x.end());
}
