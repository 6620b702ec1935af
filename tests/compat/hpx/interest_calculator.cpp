// SPDX-License-Identifier: BSL-1.0
// Compound interest as a chain of dataflows: each period's amount is a future of the earlier ones.
#include <hpx/hpx.hpp>
#include <hpx/hpx_init.hpp>

#include <cmath>
#include <iostream>

using hpx::program_options::options_description;
using hpx::program_options::value;
using hpx::program_options::variables_map;

double calc(double principal, double rate) { return principal * rate; }
double add(double principal, double interest) { return principal + interest; }

int hpx_main(variables_map& vm) {
    using hpx::dataflow;
    using hpx::make_ready_future;
    using hpx::shared_future;
    using hpx::unwrapping;

    double const init_principal = vm["principal"].as<double>();
    double const init_rate = vm["rate"].as<double>() / 100;
    int const periods = vm["time"].as<int>() / vm["cp"].as<int>();

    shared_future<double> principal = make_ready_future(init_principal);
    shared_future<double> rate = make_ready_future(init_rate);
    for (int i = 0; i < periods; ++i) {
        shared_future<double> interest = dataflow(unwrapping(calc), principal, rate);
        principal = dataflow(unwrapping(add), principal, interest);
    }
    double const result = principal.get();
    std::cout << "Final amount: " << result << "\nAmount made: " << result - init_principal << '\n';

    double const expected = init_principal * std::pow(1 + init_rate, periods);
    hpx::finalize();
    return std::abs(result - expected) < 1e-9 * expected ? 0 : 1;
}

int main(int argc, char** argv) {
    options_description cmdline("Usage: " HPX_APPLICATION_STRING " [options]");
    cmdline.add_options()("principal", value<double>()->default_value(1000), "The principal [$]")(
        "rate", value<double>()->default_value(7), "The interest rate [%]")(
        "cp", value<int>()->default_value(12), "The compound period [months]")(
        "time", value<int>()->default_value(12 * 30), "The time money is invested [months]");
    hpx::init_params init_args;
    init_args.desc_cmdline = cmdline;
    return hpx::init(argc, argv, init_args);
}
