// SPDX-License-Identifier: BSL-1.0
// Energy on synthetic machines: which zones count, that sums survive the wrap-around of counters,
// and that missing, refused or dead zones give a reason. One case uses this computer.
#include "system_readings.hpp"

#include <quern/counters/system_energy.hpp>

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

namespace {

using quern::counters::energy_source;
using quern_test::expect_none;
using quern_test::expect_value;
using quern_test::read_counter;
using quern_test::source_state;

constexpr double k_uj = 1e-6;

/// Zones below a folder, and a clock that the test moves.
class power_test : public testing::Test {
protected:
    void zone(const std::string& folder, const std::string& name, const std::string& energy_uj,
              const std::string& range_uj = "1000000000") {
        const std::string path = "/sys/class/powercap/" + folder;
        tree.file(path + "/name", name + "\n");
        tree.file(path + "/max_energy_range_uj", range_uj + "\n");
        show(folder, energy_uj);
    }
    void show(const std::string& folder, const std::string& energy_uj) {
        tree.file("/sys/class/powercap/" + folder + "/energy_uj", energy_uj + "\n");
    }
    void pass_ms(std::uint64_t ms) { *now += ms * 1'000'000; }

    std::unique_ptr<energy_source> make(const quern::topology::system_root& root) const {
        return std::make_unique<energy_source>(root, [now = now] { return *now; });
    }
    std::unique_ptr<energy_source> make() const { return make(tree.root()); }

    fake::tree tree;
    std::shared_ptr<std::uint64_t> now = std::make_shared<std::uint64_t>(5'000'000'000);
};

TEST_F(power_test, is_in_the_mean_energy_over_time) {
    zone("intel-rapl:0", "package-0", "1000000");
    zone("intel-rapl:1", "package-1", "1000000");
    const auto source = make();
    EXPECT_TRUE(read_counter(*source, "/runtime/average_power").begins);
    pass_ms(500);
    show("intel-rapl:0", "3000000");
    show("intel-rapl:1", "2000000");
    const auto reading = read_counter(*source, "/runtime/average_power");
    expect_value(reading, 3);
    EXPECT_DOUBLE_EQ(reading.below, 0.5);
}

TEST_F(power_test, is_unknown_in_the_mean_without_zones) {
    const auto reading = read_counter(*make(), "/runtime/average_power");
    EXPECT_NE(reading.state, source_state::ok);
    EXPECT_NE(reading.why, "");
}

TEST_F(power_test, begins_with_the_first_reading) {
    zone("intel-rapl:0", "package-0", "123456789");
    const auto source = make();
    const auto first = read_counter(*source, "/power/package");
    expect_value(first, 0);
    EXPECT_TRUE(first.begins);
    pass_ms(10);
    show("intel-rapl:0", "123956789");
    const auto second = read_counter(*source, "/power/package");
    expect_value(second, 0.5);
    EXPECT_FALSE(second.begins);
}

TEST_F(power_test, adds_packages_and_never_a_package_and_its_zones) {
    tree.file("/sys/class/powercap/intel-rapl/enabled", "1\n");
    zone("intel-rapl:0", "package-0", "100");
    zone("intel-rapl:0:0", "core", "100");
    zone("intel-rapl:0:1", "dram", "100");
    zone("intel-rapl:1", "package-1", "100");
    zone("intel-rapl:1:0", "core", "100");
    zone("intel-rapl:2", "psys", "100");
    const auto source = make();
    source->read({});
    pass_ms(10);
    show("intel-rapl:0", "1100");
    show("intel-rapl:0:0", "300");
    show("intel-rapl:0:1", "107");
    show("intel-rapl:1", "2100");
    show("intel-rapl:1:0", "400");
    show("intel-rapl:2", "9100");
    const auto readings = source->read({});
    expect_value(readings[0], 3000 * k_uj);  // package
    expect_value(readings[1], 500 * k_uj);   // core
    expect_none(readings[2], source_state::absent, "no energy counter named uncore");
    expect_value(readings[3], 7 * k_uj);     // dram
    expect_value(readings[4], 9000 * k_uj);  // psys
}

TEST_F(power_test, leaves_out_the_same_package_by_another_register) {
    zone("intel-rapl-mmio:0", "package-0", "500");
    zone("intel-rapl-mmio:0:0", "dram", "500");
    zone("intel-rapl:0", "package-0", "100");
    const auto source = make();
    source->read({});
    pass_ms(10);
    show("intel-rapl-mmio:0", "900");
    show("intel-rapl:0", "150");
    expect_value(read_counter(*source, "/power/package"), 50 * k_uj);
    expect_none(read_counter(*source, "/power/dram"), source_state::absent, "dram");
}

TEST_F(power_test, takes_a_package_that_only_the_other_register_shows) {
    zone("intel-rapl-mmio:0", "package-0", "500");
    const auto source = make();
    source->read({});
    pass_ms(10);
    show("intel-rapl-mmio:0", "900");
    expect_value(read_counter(*source, "/power/package"), 400 * k_uj);
}

TEST_F(power_test, goes_on_when_a_counter_wraps) {
    zone("intel-rapl:0", "package-0", "999999000", "1000000000");
    const auto source = make();
    source->read({});
    for (int i = 1; i <= 5; ++i) {  // each round: 1000 uJ to the end, 500 after it
        pass_ms(100);
        show("intel-rapl:0", "500");
        expect_value(read_counter(*source, "/power/package"), (i - 1) * 1000.0 + 1500 * k_uj);
        pass_ms(100);
        show("intel-rapl:0", "999999000");
        expect_value(read_counter(*source, "/power/package"), i * 1000.0);
    }
}

TEST_F(power_test, is_lost_when_a_counter_may_have_wrapped_twice) {
    zone("intel-rapl:0", "package-0", "100", "262143328850");
    const auto source = make();
    source->read({});
    pass_ms(262'000);
    show("intel-rapl:0", "200");
    expect_value(read_counter(*source, "/power/package"), 100 * k_uj);
    pass_ms(263'000);  // at 1000 W it is full in 262 s
    show("intel-rapl:0", "300");
    expect_none(read_counter(*source, "/power/package"), source_state::absent,
                "no reading for 263 s, in which the energy counter may have wrapped");
    pass_ms(10);
    show("intel-rapl:0", "400");
    expect_none(read_counter(*source, "/power/package"), source_state::absent, "no reading");
}

TEST_F(power_test, trusts_a_package_that_states_its_highest_power_for_longer) {
    zone("intel-rapl:0", "package-0", "100", "262143328850");
    tree.file("/sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "65000000\n");
    tree.file("/sys/class/powercap/intel-rapl:0/constraint_1_max_power_uw", "0\n");
    const auto source = make();
    source->read({});
    pass_ms(2'000'000);  // at 130 W it is full in 2016 s
    show("intel-rapl:0", "200");
    expect_value(read_counter(*source, "/power/package"), 100 * k_uj);
}

TEST_F(power_test, is_lost_when_a_counter_falls_and_nobody_knows_where_it_wraps) {
    zone("intel-rapl:0", "package-0", "100", "");
    const auto source = make();
    source->read({});
    pass_ms(10);
    show("intel-rapl:0", "50");
    expect_none(read_counter(*source, "/power/package"), source_state::absent,
                "fell from 100 to 50 uJ, and max_energy_range_uj does not say why");
}

TEST_F(power_test, of_a_counter_that_shows_nothing_is_stuck_at_once) {
    zone("intel-rapl:0", "package-0", "0");
    expect_none(read_counter(*make(), "/power/package"), source_state::stuck,
                "does not move from 0 uJ");
}

TEST_F(power_test, of_a_counter_that_does_not_move_is_stuck_after_a_second) {
    zone("intel-rapl:0", "package-0", "77");
    const auto source = make();
    source->read({});
    pass_ms(999);
    expect_value(read_counter(*source, "/power/package"), 0);
    pass_ms(1);
    expect_none(read_counter(*source, "/power/package"), source_state::stuck,
                "does not move from 77 uJ");
    show("intel-rapl:0", "87");
    expect_value(read_counter(*source, "/power/package"), 10 * k_uj);
}

TEST_F(power_test, of_one_stuck_package_makes_no_sum) {
    zone("intel-rapl:0", "package-0", "77");
    zone("intel-rapl:1", "package-1", "0");
    expect_none(read_counter(*make(), "/power/package"), source_state::stuck, "intel-rapl:1");
}

TEST_F(power_test, that_only_root_may_read_is_denied) {
    zone("intel-rapl:0", "package-0", "77");
    zone("intel-rapl:0:0", "dram", "77");
    quern::topology::system_root root = tree.root();
    root.refuses = [](std::string_view path) {
        return path.ends_with("intel-rapl:0/energy_uj") ? EACCES : 0;
    };
    const auto source = make(root);
    expect_none(read_counter(*source, "/power/package"), source_state::denied,
                "intel-rapl:0/energy_uj: EACCES (Permission denied)");
    expect_value(read_counter(*source, "/power/dram"), 0);  // the other zones are not affected
}

TEST_F(power_test, is_absent_without_zones) {
    expect_none(read_counter(*make(), "/power/package"), source_state::absent,
                "no energy counters: " + tree.path("/sys/class/powercap") + ": ENOENT");
    tree.file("/sys/class/powercap/dtpm/name", "dtpm\n");
    expect_none(read_counter(*make(), "/power/package"), source_state::absent,
                "no energy counter named package");
}

TEST_F(power_test, of_a_zone_that_vanishes_is_absent_until_it_is_back) {
    zone("intel-rapl:0", "package-0", "77");
    const auto source = make();
    source->read({});
    std::filesystem::remove(tree.path("/sys/class/powercap/intel-rapl:0/energy_uj"));
    pass_ms(10);
    expect_none(read_counter(*source, "/power/package"), source_state::absent, "ENOENT");
    show("intel-rapl:0", "80");
    expect_value(read_counter(*source, "/power/package"), 3 * k_uj);
}

TEST_F(power_test, that_is_no_number_is_malformed) {
    for (const char* const nonsense : {"", "x", "-1", "1.5", "12 13", "99999999999999999999999"}) {
        zone("intel-rapl:0", "package-0", nonsense);
        expect_none(read_counter(*make(), "/power/package"), source_state::absent,
                    "malformed: expected microjoules");
    }
}

TEST_F(power_test, has_two_readers_that_do_not_disturb_each_other) {
    zone("intel-rapl:0", "package-0", "100");
    const auto source = make();
    source->read({});
    for (int i = 1; i <= 10; ++i) {
        pass_ms(10);
        show("intel-rapl:0", std::to_string(100 + i));
        expect_value(read_counter(*source, "/power/package"), i * k_uj);
        expect_value(read_counter(*source, "/power/package"), i * k_uj);
    }
}

TEST(power_live, of_this_computer) {
    energy_source source;
    const auto first = read_counter(source, "/power/package");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto second = read_counter(source, "/power/package");
    if (second.state != source_state::ok) {
        EXPECT_FALSE(second.why.empty());
        GTEST_SKIP() << second.why;
    }
    EXPECT_GE(second.above, first.above);
}

}  // namespace
