// SPDX-License-Identifier: BSL-1.0
// quern.hpp has the policies; an algorithm says in which header it is.
#include <quern/quern.hpp>

#include <vector>

#ifdef QUERN_MUST_COMPILE
#    include <quern/algorithms/count.hpp>
#    include <quern/algorithms/sort.hpp>
#endif

using namespace quern;

int main() {
    std::vector<int> x{2, 1};
    quern::sort(quern::par, x.begin(), x.end());
#ifdef QUERN_MUST_COMPILE
    return static_cast<int>(count(par, x.begin(), x.end(), 1) - 1);
#endif
}
