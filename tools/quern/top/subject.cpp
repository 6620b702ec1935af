// SPDX-License-Identifier: BSL-1.0
// When samples are taken.
#include "top/subject.hpp"

#include <random>
#include <thread>

namespace quern::tool {

std::chrono::milliseconds top_subject::pause() {
    constexpr int k_shortest = 25;  // milliseconds
    constexpr int k_longest = 75;
    static std::minstd_rand random;
    return std::chrono::milliseconds(
        std::uniform_int_distribution<int>(k_shortest, k_longest)(random));
}

void top_subject::look_for(std::chrono::milliseconds interval) {
    using clock = std::chrono::steady_clock;
    const auto due = clock::now() + interval;
    for (auto next = clock::now() + pause(); next < due; next = clock::now() + pause()) {
        std::this_thread::sleep_until(next);
        look();
    }
    std::this_thread::sleep_until(due);
}

}  // namespace quern::tool
