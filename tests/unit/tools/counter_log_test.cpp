// SPDX-License-Identifier: BSL-1.0
// Reading of printed counters: units, instances, several lines, and what is no such line.
#include "counter_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace {

using quern::tool::counter_reading;
using quern::tool::read_counter_log;

std::string counter(const std::string& name, const std::string& value, const std::string& unit) {
    return R"({"name":")" + name + R"(","value":)" + value + R"(,"unit":")" + unit +
           R"(","state":"ok","why":"a reason"})";
}

std::string line(const std::string& counters) {
    return R"({"time_s":1.5,"sequence":0,"counters":[)" + counters + "]}\n";
}

class file {
public:
    explicit file(const std::string& text) {
        const int descriptor = ::mkstemp(m_path.data());
        std::ofstream(m_path) << text;
        ::close(descriptor);
    }
    ~file() { std::remove(m_path.c_str()); }
    file(const file&) = delete;
    file& operator=(const file&) = delete;

    const std::string& path() const { return m_path; }

private:
    std::string m_path = "/tmp/counter_log_test_XXXXXX";
};

TEST(CounterLog, ConvertsUnits) {
    const file log(line(counter("/threads{locality#0/total}/time/average", "1500", "ns") + "," +
                        counter("/threads{locality#0/total}/idle-rate", "2500", "0.01 %") + "," +
                        counter("/threads{locality#0/total}/count/cumulative", "42", "")));
    const auto reading = read_counter_log(log.path());
    ASSERT_TRUE(reading);
    EXPECT_DOUBLE_EQ(reading->total("/threads/time/average"), 1.5e-6);
    EXPECT_DOUBLE_EQ(reading->total("/threads/idle-rate"), 0.25);
    EXPECT_EQ(reading->total("/threads/count/cumulative"), 42);
    EXPECT_EQ(reading->time_s, 1.5);
}

TEST(CounterLog, TellsTheWholeFromItsParts) {
    const file log(line(counter("/threads{locality#0/worker-thread#0}/idle-rate", "1", "") + "," +
                        counter("/threads{locality#0/pool#a/worker-thread#0}/idle-rate", "2", "") +
                        "," + counter("/threads{locality#0/worker-thread#1}/idle-rate", "3", "") +
                        "," + counter("/threads{locality#0/pool#a/total}/idle-rate", "4", "") +
                        "," + counter("/threads{locality#0/total}/idle-rate", "5", "")));
    const auto reading = read_counter_log(log.path());
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->total("/threads/idle-rate"), 5);
    EXPECT_EQ(reading->workers, 2u);
}

TEST(CounterLog, KeepsWhyACounterHasNoValue) {
    const file log(line(counter("/threads{locality#0/total}/idle-rate", "null", "")));
    const auto reading = read_counter_log(log.path());
    ASSERT_TRUE(reading);
    EXPECT_TRUE(std::isnan(reading->total("/threads/idle-rate")));
    EXPECT_EQ(reading->missing.at("/threads/idle-rate"), "a reason");
    EXPECT_TRUE(std::isnan(reading->total("/no/such")));
}

TEST(CounterLog, TakesTheRuntimeWithTheMostTasks) {
    const std::string tasks = "/threads{locality#0/total}/count/cumulative";
    const file log(line(counter(tasks, "1", "")) + line(counter(tasks, "9", "")) +
                   line(counter(tasks, "3", "")));
    EXPECT_EQ(read_counter_log(log.path())->total("/threads/count/cumulative"), 9);
}

TEST(CounterLog, IsNothingWithoutAFileOrALine) {
    EXPECT_FALSE(read_counter_log("/no/such/file"));
    EXPECT_FALSE(read_counter_log(file("").path()));
    const file blank("\n \n");
    EXPECT_FALSE(read_counter_log(blank.path()));
}

TEST(CounterLog, NamesTheLineThatIsNone) {
    for (const char* const broken :
         {"{", "3", "[]", R"({"counters":3})", R"({"counters":[{"value":1}]})",
          R"({"counters":[{"name":3,"value":1}]})"}) {
        const file log(line("") + broken + "\n");
        try {
            read_counter_log(log.path());
            FAIL() << broken;
        } catch (const std::runtime_error& error) {
            EXPECT_NE(std::string(error.what()).find(log.path() + ":2: "), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
