// SPDX-License-Identifier: BSL-1.0
// A task keeps a copy of the value that it looks for.
#include <quern/algorithms/find.hpp>

#include <memory>
#include <vector>

#ifdef QUERN_MUST_COMPILE
using element = std::shared_ptr<int>;
#else
using element = std::unique_ptr<int>;
#endif

int main() {
    std::vector<element> x(10);
    quern::find(quern::par(quern::as_future), x.begin(), x.end(), element()).get();
}
