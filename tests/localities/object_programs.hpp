// SPDX-License-Identifier: BSL-1.0
// Small programs of localities that use one global object, for its protocol's model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace quern_test {

/// One step of a program at a locality, possible while it has a reference.
struct step {
    enum class kind : std::uint8_t { call, keeping_call, shared_call, give, move, drop };
    kind what{};
    int to = 0;  ///< of give and move
};
inline constexpr step k_call{step::kind::call};
/// At its end the object takes a reference to itself, which is dropped some time later.
inline constexpr step k_keeping{step::kind::keeping_call};
inline constexpr int k_keeps = 1000;  ///< in the number of such a call
inline constexpr step k_shared{step::kind::shared_call};
inline constexpr step k_drop{step::kind::drop};
constexpr step give(int to) { return {step::kind::give, to}; }
constexpr step move_to(int to) { return {step::kind::move, to}; }

/// The object is made at locality 0, which has the first reference. Each other locality begins when
/// it gets its first.
using program = std::vector<std::vector<step>>;

/// Of two to five localities. Each is given references by earlier ones, so that it has some.
inline program random_program(std::mt19937& dice) {
    const auto below = [&dice](std::size_t n) { return static_cast<std::size_t>(dice() % n); };
    const std::size_t localities = 2 + below(4);
    program all(localities);
    std::vector<std::size_t> drops(localities, 0);
    drops[0] = 1;
    for (std::size_t at = 0; at < localities; ++at) {
        for (std::size_t left = drops[at] == 0 ? 0 : below(8); left != 0; --left) {
            switch (below(6)) {
                case 0:
                    all[at].push_back(k_call);
                    break;
                case 5:
                    all[at].push_back(k_keeping);
                    break;
                case 1:
                    all[at].push_back(k_shared);
                    break;
                case 2:
                    all[at].push_back(move_to(static_cast<int>(below(localities))));
                    break;
                default:
                    if (at + 1 < localities) {
                        const std::size_t to = at + 1 + below(localities - at - 1);
                        all[at].push_back(give(static_cast<int>(to)));
                        ++drops[to];
                    }
            }
        }
        for (; drops[at] != 0; --drops[at]) {
            all[at].push_back(k_drop);
            if (drops[at] > 1 && below(2) == 0) {
                all[at].push_back(k_call);
            }
        }
    }
    return all;
}

}  // namespace quern_test
