// SPDX-License-Identifier: BSL-1.0
// A stop token travels as an argument of a call, and not as a result.
#include <quern/localities/run_at.hpp>

#include <optional>
#include <stop_token>

struct found {
    int where = 0;
#ifndef QUERN_MUST_COMPILE
    std::optional<std::stop_token> stop{};
#endif
};

found search(std::stop_token stop) { return {stop.stop_requested() ? 1 : 2}; }

int main() {
    static_cast<void>(quern::localities::run_at(0, &search, std::stop_token()));
    return 0;
}
