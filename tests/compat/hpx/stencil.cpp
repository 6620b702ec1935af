// SPDX-License-Identifier: BSL-1.0
// Heat diffusion on a ring, in partitions whose next values are dataflows of three old ones. A
// sliding semaphore limits how far tasks are made in advance.
#include <hpx/algorithm.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/semaphore.hpp>

#include <cmath>
#include <cstddef>
#include <iostream>
#include <memory>
#include <vector>

using partition_data = std::vector<double>;
using partition = hpx::shared_future<partition_data>;

double heat(double left, double middle, double right) {
    return middle + 0.5 * (left - 2 * middle + right);
}

partition_data heat_part(partition_data const& left, partition_data const& middle,
                         partition_data const& right) {
    std::size_t const size = middle.size();
    partition_data next(size);
    for (std::size_t i = 0; i != size; ++i) {
        double const before = i == 0 ? left.back() : middle[i - 1];
        double const after = i + 1 == size ? right.front() : middle[i + 1];
        next[i] = heat(before, middle[i], after);
    }
    return next;
}

std::vector<double> serial(std::size_t points, std::size_t steps) {
    std::vector<double> now(points), next(points);
    for (std::size_t i = 0; i != points; ++i) {
        now[i] = double(i);
    }
    for (std::size_t t = 0; t != steps; ++t) {
        for (std::size_t i = 0; i != points; ++i) {
            next[i] = heat(now[(i + points - 1) % points], now[i], now[(i + 1) % points]);
        }
        std::swap(now, next);
    }
    return now;
}

int hpx_main(hpx::program_options::variables_map& vm) {
    auto const np = vm["np"].as<std::size_t>();
    auto const nx = vm["nx"].as<std::size_t>();
    auto const nt = vm["nt"].as<std::size_t>();
    std::size_t const nd = 5;  // steps ahead

    std::vector<std::vector<partition>> space(2, std::vector<partition>(np));
    hpx::experimental::for_loop(hpx::execution::par, std::size_t(0), np, [&](std::size_t i) {
        partition_data init(nx);
        for (std::size_t j = 0; j != nx; ++j) {
            init[j] = double(i * nx + j);
        }
        space[0][i] = hpx::make_ready_future(std::move(init));
    });

    auto sem = std::make_shared<hpx::sliding_semaphore>(static_cast<std::int64_t>(nd));
    auto op = hpx::unwrapping(&heat_part);
    for (std::size_t t = 0; t != nt; ++t) {
        std::vector<partition> const& current = space[t % 2];
        std::vector<partition>& next = space[(t + 1) % 2];
        for (std::size_t i = 0; i != np; ++i) {
            next[i] = hpx::dataflow(hpx::launch::async, op, current[(i + np - 1) % np], current[i],
                                    current[(i + 1) % np]);
        }
        if ((t % nd) == 0) {
            next[0].then([sem, t](partition&&) { sem->signal(static_cast<std::int64_t>(t)); });
        }
        sem->wait(static_cast<std::int64_t>(t));
    }

    std::vector<partition> const solution = hpx::when_all(space[nt % 2]).get();
    std::vector<double> const expected = serial(np * nx, nt);
    bool right = true;
    for (std::size_t i = 0; i != np; ++i) {
        for (std::size_t j = 0; j != nx; ++j) {
            right = right && std::abs(solution[i].get()[j] - expected[i * nx + j]) < 1e-9;
        }
    }
    std::cout << (right ? "right\n" : "wrong\n");
    hpx::local::finalize();
    return right ? 0 : 1;
}

int main(int argc, char* argv[]) {
    namespace po = hpx::program_options;
    po::options_description desc("stencil");
    desc.add_options()("nx", po::value<std::size_t>()->default_value(10), "points of a partition")(
        "np", po::value<std::size_t>()->default_value(20), "partitions")(
        "nt", po::value<std::size_t>()->default_value(45), "time steps");
    hpx::local::init_params init_args;
    init_args.desc_cmdline = desc;
    return hpx::local::init(hpx_main, argc, argv, init_args);
}
