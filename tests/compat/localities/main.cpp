// SPDX-License-Identifier: BSL-1.0
// One program of several in HPX's style, as each takes long to build; hpx_main runs them one after
// the other at the root.
#include "checks.hpp"

#include <hpx/hpx_init.hpp>
#include <hpx/modules/testing.hpp>

#include <string>
#include <vector>

int hpx_main(hpx::program_options::variables_map& vm) {
    HPX_TEST_EQ(vm["answer"].as<int>(), 42);
    HPX_TEST_EQ(hpx::get_locality_id(), 0u);
    check_fibonacci();
    check_stencil();
    check_collectives();
    check_names();
    check_control_objects();
    check_serialization();
    check_wrong_uses();
    return hpx::finalize();
}

int main(int argc, char** argv) {
    hpx::program_options::options_description options("What this program takes");
    options.add_options()("answer", hpx::program_options::value<int>()->default_value(42),
                          "the answer");
    hpx::init_params params;
    params.desc_cmdline = options;
    int starts = 0;
    int ends = 0;
    params.startup = [&] { ++starts; };
    params.shutdown = [&] {
        ++ends;
        hpx::find_here();  // the job has not ended
    };
    int const status = hpx::init(argc, argv, params);
    HPX_TEST_EQ(starts, 1);
    HPX_TEST_EQ(ends, 1);
    HPX_TEST_EQ(hpx::get_locality_id(), hpx::naming::invalid_locality_id);
    return status != 0 ? status : hpx::util::report_errors();
}
