// SPDX-License-Identifier: BSL-1.0
// The findings of `quern info`, before they are printed as text (info_text.cpp) or JSON
// (info_json.cpp). Both print all of it.
#pragma once

#include "info/probes.hpp"

#include <quern/settings/settings.hpp>
#include <quern/topology/binding.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>
#include <quern/topology/workers.hpp>

#include <string>
#include <vector>

namespace quern::tool {

struct placement {
    topology::binding how;
    topology::outcome<std::vector<unsigned>> pus;  ///< per worker
};

struct info_report {
    topology::machine machine;
    topology::cpu_limits limits;
    topology::worker_choice workers;
    settings chosen;                    ///< what a runtime gets here by default
    std::vector<placement> placements;  ///< empty unless requested
    std::vector<feature> features;
};

/// With a new line at its end.
std::string info_as_text(const info_report& report);
std::string info_as_json(const info_report& report);

}  // namespace quern::tool
