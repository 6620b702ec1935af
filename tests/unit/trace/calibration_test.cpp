// SPDX-License-Identifier: BSL-1.0
// The file of one-core times is read back as it was written; any other file is reported and
// ignored.
#include <quern/trace/calibration.hpp>

#include "sample_recording.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

using quern::trace::calibration;
using quern::trace::calibration_of;
using quern::trace::read_calibration;
using quern::trace::write_calibration;

class calibration_test : public testing::Test {
protected:
    void SetUp() override { std::filesystem::remove(path); }
    void TearDown() override { std::filesystem::remove(path); }

    /// The result of reading a file with this text.
    calibration of(const std::string& text) {
        std::ofstream(path) << text;
        return read_calibration(path);
    }

    const std::string path = testing::TempDir() +
                             testing::UnitTest::GetInstance()->current_test_info()->name() +
                             ".quern-calibration";
};

TEST_F(calibration_test, comes_back_as_it_was_written) {
    const quern::trace::recording run = quern_test::sample_recording(1, 1000);
    const calibration written = calibration_of(run);
    std::ostringstream text;
    write_calibration(written, text);
    const calibration read = of(text.str());
    EXPECT_EQ(read.fault, "");
    ASSERT_EQ(read.sites.size(), 3u);  // the site without tasks has no time
    for (std::size_t i = 0; i < read.sites.size(); ++i) {
        EXPECT_EQ(read.sites[i].name, written.sites[i].name);
        EXPECT_EQ(read.sites[i].location, written.sites[i].location);
        EXPECT_EQ(read.sites[i].tasks, written.sites[i].tasks);
        EXPECT_NEAR(read.sites[i].mean_ns, written.sites[i].mean_ns, 1e-3);
        EXPECT_NE(read.find(run.sites[i + 1]), nullptr);
    }
    EXPECT_EQ(read.find(run.sites[0]), nullptr);
}

TEST_F(calibration_test, finds_a_site_that_has_moved_but_no_other_of_its_name) {
    calibration times;
    times.sites = {{"fib", "fib.cpp:3", 1, 10.0}};
    quern::trace::site fib;
    fib.name = "fib";
    fib.location = "fib.cpp:4";
    ASSERT_NE(times.find(fib), nullptr);
    times.sites.push_back({"fib", "fib.cpp:9", 1, 20.0});
    EXPECT_EQ(times.find(fib), nullptr);
    fib.location = "fib.cpp:9";
    EXPECT_EQ(times.find(fib)->mean_ns, 20.0);
}

TEST_F(calibration_test, is_of_one_worker_alone) {
    EXPECT_THROW(calibration_of(quern_test::sample_recording(2, 100)), std::invalid_argument);
    EXPECT_THROW(calibration_of(quern::trace::recording()), std::invalid_argument);
}

TEST_F(calibration_test, that_is_not_there_is_no_fault) {
    const calibration none = read_calibration(path);
    EXPECT_TRUE(none.sites.empty());
    EXPECT_EQ(none.fault, "");
}

TEST_F(calibration_test, of_something_else_is_reported) {
    const std::pair<const char*, const char*> cases[] = {
        {"", ": an empty file"},
        {"hello\n", ":1: not a calibration"},
        {"\x7F\x45LF\x01", ":1: not a calibration"},
        {"quern calibration 2\nsite 1 2 a\t\nend 1\n", ":1: a calibration of version 2"},
        {"quern calibration 1\n", ": its end is missing"},
        {"quern calibration 1\nsite 1 2.5 a\t\n", ": its end is missing"},
        {"quern calibration 1\nsite 1 2.5 a\t\nend 2\n", ":3: a damaged line"},
        {"quern calibration 1\nsite -1 2.5 a\t\nend 1\n", ":2: a damaged line"},
        {"quern calibration 1\nsite 1 nan a\t\nend 1\n", ":2: a damaged line"},
        {"quern calibration 1\nsite 1 -3 a\t\nend 1\n", ":2: a damaged line"},
        {"quern calibration 1\nsite 1 2.5 a\\x\t\nend 1\n", ":2: a damaged line"},
        {"quern calibration 1\nrow 1\nend 0\n", ":2: a damaged line"},
    };
    for (const auto& [text, fault] : cases) {
        const calibration found = of(text);
        EXPECT_TRUE(found.sites.empty()) << text;
        EXPECT_EQ(found.fault.rfind(path + fault, 0), 0u) << text << ": " << found.fault;
        EXPECT_NE(found.fault.find("it is ignored"), std::string::npos) << found.fault;
    }
}

TEST_F(calibration_test, that_cannot_be_read_is_reported) {
    EXPECT_NE(read_calibration(testing::TempDir()).fault.find("cannot be read"), std::string::npos);
}

TEST_F(calibration_test, lies_beside_the_program) {
    const std::string name = std::string(::program_invocation_short_name) + ".quern-calibration";
    EXPECT_NE(quern::trace::default_calibration_path().find(name), std::string::npos);
}

}  // namespace
