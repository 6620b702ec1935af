// SPDX-License-Identifier: BSL-1.0
// The sources on files captured on real machines (captured/README.md): each counter has a plausible
// value, or a reason that is no fault of the parsers.
#include "system_readings.hpp"

#include <filesystem>
#include <vector>

namespace {

using quern_test::expect_none;
using quern_test::source_state;
using quern_test::sources;

std::vector<std::filesystem::path> captured_trees() {
    std::vector<std::filesystem::path> trees;
    for (const auto& entry : std::filesystem::directory_iterator(QUERN_CAPTURED_FILES)) {
        if (entry.is_directory()) {
            trees.push_back(entry.path());
        }
    }
    return trees;
}

quern::topology::system_root root_of(const std::filesystem::path& tree) {
    return {.prefix = tree.string()};
}

class captured_test : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(captured_test, nothing_is_malformed) {
    const sources all(root_of(GetParam()));
    for (const auto& one : all.all()) {
        const auto readings = one->read({});
        for (std::size_t i = 0; i < readings.size(); ++i) {
            EXPECT_EQ(readings[i].why.find("malformed"), std::string::npos) << readings[i].why;
            EXPECT_NE(readings[i].state == source_state::ok, !readings[i].why.empty())
                << one->counters()[i].name;
            EXPECT_GE(readings[i].above, 0) << one->counters()[i].name;
        }
    }
}

TEST_P(captured_test, values_agree_with_each_other) {
    const sources all(root_of(GetParam()));
    const auto value = [&](std::string_view name) {
        const auto reading = all.read(name);
        EXPECT_EQ(reading.state, source_state::ok) << name << ": " << reading.why;
        return reading.above;
    };
    EXPECT_GE(value("/runtime/memory/virtual"), value("/runtime/memory/resident"));
    EXPECT_GT(value("/runtime/memory/total"), 0);
    EXPECT_GT(value("/runtime/io/read_bytes_issued"), 0);
    EXPECT_GT(value("/os/total-time"), value("/os/steal-time"));
    EXPECT_GE(value("/os/pressure/memory/some"), value("/os/pressure/memory/full"));
}

INSTANTIATE_TEST_SUITE_P(on, captured_test, testing::ValuesIn(captured_trees()),
                         [](const auto& tree) {
                             std::string name = tree.param.filename().string();
                             for (char& c : name) {
                                 c = c == '-' ? '_' : c;
                             }
                             return name;
                         });

TEST(captured, hybrid_groups_of_a_virtual_machine) {
    const sources all(
        root_of(std::filesystem::path(QUERN_CAPTURED_FILES) / "virtual-machine-hybrid-groups"));
    quern_test::expect_value(all.read("/os/throttled/time"), 0);  // version 1: no throttling
    expect_none(all.read("/os/memory-limit/max"), source_state::absent, "no control group");
    EXPECT_GT(all.read("/os/memory-limit/current").above, 0);
    expect_none(all.read("/power/package"), source_state::absent, "ENOENT");
}

}  // namespace
