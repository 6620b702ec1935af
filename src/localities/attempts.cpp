// SPDX-License-Identifier: BSL-1.0
// Checks where calls are to be attempted.
#include <quern/localities/attempts.hpp>
#include <quern/localities/detail/parcel.hpp>

namespace quern::localities::detail {

void require_places(const std::vector<int>& places, int attempts, const char* function) {
    const job& of = detail::job_for(function);
    if (attempts < 1) {
        throw std::invalid_argument(std::string("quern: localities::") + function + " with " +
                                    std::to_string(attempts) + " attempts; accepted: 1 and more");
    }
    if (places.empty()) {
        throw std::invalid_argument(std::string("quern: localities::") + function +
                                    " without a place; accepted: localities, such as all()");
    }
    for (const int each : places) {
        static_cast<void>(detail::is_here(of, each, function));
    }
}

}  // namespace quern::localities::detail
