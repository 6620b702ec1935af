// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of regions: settings for a test, a region that other programs do not disturb,
// and entries until its search is over.
#pragma once

#include "unit/scheduler/on_runtime.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/region.hpp>
#include <quern/settings/settings.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace quern_test {

/// A setting for the runtimes of a test, and its default again afterwards.
class with_setting {
public:
    with_setting(std::string name, const std::string& value, std::string fallback)
        : m_name(std::move(name)), m_fallback(std::move(fallback)) {
        quern::set_setting(m_name, value);
    }
    ~with_setting() { quern::set_setting(m_name, m_fallback); }
    with_setting(const with_setting&) = delete;
    with_setting& operator=(const with_setting&) = delete;

private:
    std::string m_name;
    std::string m_fallback;
};

inline quern::adaptation::region_options by(quern::adaptation::strategy how) {
    quern::adaptation::region_options options{.how = how};
    options.most_lost = 0;   // other programs on the machine must not change what is tested
    options.most_spent = 1;  // nor must the time that a trial takes
    return options;
}

/// Enters until the search is over. Per unit of work the best point takes a millionth of the time,
/// so no disturbance by other programs makes another one look better.
inline int enter_until_converged(quern::adaptation::region& where, double best) {
    int entries = 0;
    while (!where.converged() && entries < 1000) {
        quern::adaptation::region::entry now = where.enter();
        now.work(now.where()["x"] == best ? 1e6 : 1);
        spin_for(std::chrono::microseconds(100));
        ++entries;
    }
    return entries;
}

/// The decisions about this region, the oldest first.
inline std::vector<quern::adaptation::decision> decisions_about(const std::string& name) {
    auto found = quern::adaptation::decisions();
    std::erase_if(found, [&](const auto& each) { return each.subject != name; });
    return found;
}

}  // namespace quern_test
