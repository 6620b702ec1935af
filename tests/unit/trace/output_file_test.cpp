// SPDX-License-Identifier: BSL-1.0
// Files appear as a whole or not at all, and each runtime of a process has its own.
#include "export/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using quern::trace::detail::numbered;
using quern::trace::detail::write_output;

class output_file_test : public testing::Test {
protected:
    output_file_test() { std::filesystem::create_directory(folder); }
    ~output_file_test() override { std::filesystem::remove_all(folder); }

    static auto saying(const char* text) {
        return [text](std::ostream& to) { to << text; };
    }

    auto files() const {
        return std::distance(std::filesystem::directory_iterator(folder),
                             std::filesystem::directory_iterator());
    }

    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("quern-output-" + std::to_string(::getpid()));
    const std::filesystem::path path = folder / "run.out";
};

TEST_F(output_file_test, the_number_stands_before_the_extension) {
    EXPECT_EQ(numbered("run.pftrace", 1), "run.pftrace");
    EXPECT_EQ(numbered("run.pftrace", 2), "run.2.pftrace");
    EXPECT_EQ(numbered("/a.b/run", 3), "/a.b/run.3");
    EXPECT_EQ(numbered("/a/.hidden", 2), "/a/.hidden.2");
    EXPECT_EQ(numbered("stderr", 2), "stderr");
    EXPECT_EQ(numbered("/dev/null", 2), "/dev/null");
}

TEST_F(output_file_test, is_written_and_replaced) {
    for (const char* const text : {"first", "second"}) {
        EXPECT_EQ(write_output(path, saying(text)), "");
        std::ifstream file(path);
        std::string found;
        std::getline(file, found);
        EXPECT_EQ(found, text);
    }
    EXPECT_EQ(files(), 1);
}

TEST_F(output_file_test, tells_whether_it_was_written_meanwhile) {
    const quern::trace::detail::file_mark none(path);
    EXPECT_FALSE(none.has_changed(path));
    EXPECT_EQ(write_output(path, saying("first")), "");
    EXPECT_TRUE(none.has_changed(path));
    const quern::trace::detail::file_mark first(path);
    EXPECT_FALSE(first.has_changed(path));
    EXPECT_EQ(write_output(path, saying("second")), "");
    EXPECT_TRUE(first.has_changed(path));
    EXPECT_FALSE(quern::trace::detail::file_mark("stderr").has_changed("stderr"));
}

TEST_F(output_file_test, a_pipe_stays_a_pipe) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    EXPECT_EQ(write_output(path, saying("text")), "");
    char got[8] = {};
    EXPECT_EQ(::read(reader, got, sizeof got), 4);
    EXPECT_STREQ(got, "text");
    EXPECT_TRUE(std::filesystem::is_fifo(path));
    ::close(reader);
}

TEST_F(output_file_test, what_went_wrong_is_said_and_nothing_is_left) {
    EXPECT_EQ(write_output(folder / "none" / "run.out", saying("text")),
              "No such file or directory");
    std::filesystem::create_directory(path);
    EXPECT_NE(write_output(path, saying("text")), "");
    const auto fail = [](std::ostream& to) { to.setstate(std::ios::failbit); };
    EXPECT_NE(write_output(folder / "other", fail), "");
    const auto raise = [](std::ostream&) { throw std::runtime_error("no luck"); };
    EXPECT_EQ(write_output(folder / "other", raise), "no luck");
    EXPECT_EQ(files(), 1);
}

}  // namespace
