// SPDX-License-Identifier: BSL-1.0
#include "row.hpp"

#include <stdexcept>

namespace virtual_time {

void expect(const char* what, std::uint64_t right, std::uint64_t got) {
    if (right != got) {
        throw std::logic_error(std::string(what) + ": expected " + std::to_string(right) +
                               ", got " + std::to_string(got));
    }
}

row_result run_rounds(const setup& s, std::uint64_t right,
                      const std::function<std::uint64_t(fork_place)>& body) {
    simulation all(s.cost, s.how, s.workers, s.seed);
    row_result sum;
    std::uint64_t wrong = 0;
    double timed = 0;
    const run_figures run = all.run([&](fork_place place) {
        for (unsigned round = 0; round < s.rounds; ++round) {
            simulation::compute(s.before);
            all.begin_timing();
            const std::uint64_t got = body(place);
            const run_figures f = all.end_timing();
            wrong += got == right ? 0 : 1;
            if (round == 0 && s.rounds > 1) {
                continue;
            }
            ++timed;
            sum.value += static_cast<double>(f.took) * 1e-6;
            sum.more["all_at_work_us"] += static_cast<double>(f.all_at_work) * 1e-6;
            sum.more["took_part"] += f.took_part;
            sum.more["wakes"] += static_cast<double>(f.counted.wakes);
            sum.more["vain_wakes"] += static_cast<double>(f.vain_wakes);
            sum.more["barriers"] += static_cast<double>(f.counted.barriers);
        }
    });
    expect("rounds with a wrong answer", 0, wrong);
    sum.value /= timed;
    for (auto& [name, value] : sum.more) {
        value /= timed;
    }
    sum.more["stolen"] = static_cast<double>(run.stolen) / s.rounds;
    sum.more["suspensions"] = static_cast<double>(run.suspensions) / s.rounds;
    return sum;
}

}  // namespace virtual_time
