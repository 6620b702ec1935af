// SPDX-License-Identifier: BSL-1.0
// A greeting from every worker of every locality. The root calls a foreman at each; a foreman asks
// its workers by further actions, again where another worker has taken the task.
#include <hpx/format.hpp>
#include <hpx/hpx_main.hpp>
#include <hpx/include/actions.hpp>
#include <hpx/include/lcos.hpp>
#include <hpx/include/runtime.hpp>
#include <hpx/iostream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

std::uint32_t greet(std::string const& whom, std::set<std::uint32_t> const& attendance) {
    auto const worker = static_cast<std::uint32_t>(hpx::get_worker_thread_num());
    if (attendance.count(worker) == 0) {
        hpx::cout << hpx::util::format("worker {1} of locality {2} greets {3}\n", worker,
                                       hpx::get_locality_id(), whom)
                  << std::flush;
    }
    // Long enough for the others to wake up and take their tasks.
    hpx::this_thread::sleep_for(std::chrono::milliseconds(1));
    return worker;
}
HPX_PLAIN_ACTION(greet, greet_action)

/// How many workers have greeted.
std::size_t foreman(std::string const& whom) {
    std::size_t const workers = hpx::get_os_thread_count();
    std::set<std::uint32_t> attendance;
    while (attendance.size() < workers) {
        std::vector<hpx::future<std::uint32_t>> answers;
        for (std::size_t i = attendance.size(); i < workers; ++i) {
            answers.push_back(hpx::async<greet_action>(hpx::find_here(), whom, attendance));
        }
        for (hpx::future<std::uint32_t>& each : answers) {
            attendance.insert(each.get());
        }
    }
    return attendance.size();
}
HPX_PLAIN_ACTION(foreman, foreman_action)

int main() {
    std::vector<hpx::id_type> const localities = hpx::find_all_localities();
    std::vector<hpx::future<std::size_t>> crews;
    for (hpx::id_type const& locality : localities) {
        crews.push_back(hpx::async<foreman_action>(locality, "the root"));
    }
    std::size_t all = 0;
    for (hpx::future<std::size_t>& crew : crews) {
        all += crew.get();
    }
    hpx::cout << all << " workers at " << localities.size() << " localities\n" << std::flush;
    bool const is_root = hpx::find_here() == hpx::find_root_locality();
    bool const is_complete = localities.size() == hpx::get_num_localities(hpx::launch::sync) &&
                             hpx::find_remote_localities().size() + 1 == localities.size();
    return is_root && is_complete && all >= localities.size() ? 0 : 1;
}
