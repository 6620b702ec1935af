// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of the system's sources: reading one counter by its name, and comparing it
// with the expected value.
#pragma once

#include "unit/topology/fake_tree.hpp"

#include <quern/counters/system_sources.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern_test {

using quern::counters::place;
using quern::counters::raw_reading;
using quern::counters::source;
using quern::counters::source_state;

inline raw_reading read_counter(source& one, std::string_view name, const place& where = {}) {
    for (std::size_t i = 0; i < one.counters().size(); ++i) {
        if (one.counters()[i].name == name) {
            const std::vector<raw_reading> readings = one.read(where);
            EXPECT_EQ(readings.size(), one.counters().size()) << name;
            return readings.at(i);
        }
    }
    ADD_FAILURE() << "no counter " << name;
    return {};
}

/// All sources of a synthetic system; without a root, of this computer.
class sources {
public:
    explicit sources(const quern::topology::system_root& root = {})
        : m_all(quern::counters::system_sources(root)) {}

    source& of(std::string_view name) const {
        for (const auto& one : m_all) {
            for (const auto& info : one->counters()) {
                if (info.name == name) {
                    return *one;
                }
            }
        }
        throw std::out_of_range("no source of " + std::string(name));
    }

    raw_reading read(std::string_view name, const place& where = {}) const {
        return read_counter(of(name), name, where);
    }

    const std::vector<std::unique_ptr<source>>& all() const { return m_all; }

private:
    std::vector<std::unique_ptr<source>> m_all;
};

/// Expects this value.
inline void expect_value(const raw_reading& reading, double value) {
    EXPECT_EQ(reading.state, source_state::ok) << reading.why;
    EXPECT_DOUBLE_EQ(reading.above, value);
}

/// Expects no value, this state, and a reason that contains this text.
inline void expect_none(const raw_reading& reading, source_state state, std::string_view reason) {
    EXPECT_EQ(reading.state, state) << reading.why;
    EXPECT_NE(reading.why.find(reason), std::string::npos)
        << "expected \"" << reason << "\" in \"" << reading.why << "\"";
}

}  // namespace quern_test
