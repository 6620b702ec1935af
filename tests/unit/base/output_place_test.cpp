// SPDX-License-Identifier: BSL-1.0
// Files are replaced as a whole; a place that is not a regular file, or links to one, is kept.
#include <quern/base/detail/output_place.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;

using quern::detail::is_special;
using quern::detail::place_in_words;
using quern::detail::replacement;
using quern::detail::standard_stream;

class output_place_test : public testing::Test {
protected:
    output_place_test() { fs::create_directory(folder); }
    ~output_place_test() override { fs::remove_all(folder); }

    static bool replace(const fs::path& path, const std::string& text) {
        replacement anew(path);
        std::ofstream(anew.path()) << text;
        return anew.put();
    }

    static std::string content(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    auto files() const {
        return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    }

    const fs::path folder =
        fs::temp_directory_path() / ("quern-place-" + std::to_string(::getpid()));
    const fs::path path = folder / "run.out";
};

TEST_F(output_place_test, streams_have_two_names) {
    EXPECT_EQ(standard_stream("stdout"), stdout);
    EXPECT_EQ(standard_stream("/dev/stdout"), stdout);
    EXPECT_EQ(standard_stream("stderr"), stderr);
    EXPECT_EQ(standard_stream("/dev/stderr"), stderr);
    EXPECT_EQ(standard_stream("./stdout"), nullptr);
    EXPECT_EQ(place_in_words("/dev/stderr"), "on /dev/stderr");
    EXPECT_EQ(place_in_words("run.html"), "in run.html");
}

TEST_F(output_place_test, a_file_is_made_and_replaced) {
    EXPECT_TRUE(replace(path, "first"));
    EXPECT_EQ(content(path), "first");
    EXPECT_TRUE(replace(path, "second"));
    EXPECT_EQ(content(path), "second");
    EXPECT_EQ(files(), 1);
}

TEST_F(output_place_test, a_file_stays_until_the_new_one_is_put) {
    EXPECT_TRUE(replace(path, "old"));
    {
        const replacement anew(path);
        std::ofstream(anew.path()) << "new";
        EXPECT_EQ(content(path), "old");
        EXPECT_EQ(files(), 2);
    }
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(output_place_test, a_link_stays_and_its_file_is_replaced) {
    fs::create_directory(folder / "kept");
    const fs::path target = folder / "kept" / "run.out";
    fs::create_symlink("kept/run.out", path);
    EXPECT_TRUE(replace(path, "first")) << "through a link that leads to nothing yet";
    EXPECT_EQ(content(target), "first");
    EXPECT_TRUE(replace(path, "second"));
    EXPECT_EQ(content(target), "second");
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_EQ(files(), 2);
}

TEST_F(output_place_test, a_pipe_is_written_to) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    EXPECT_TRUE(is_special(path));
    EXPECT_TRUE(replace(path, "text"));
    char got[8] = {};
    EXPECT_EQ(::read(reader, got, sizeof got), 4);
    EXPECT_STREQ(got, "text");
    EXPECT_TRUE(fs::is_fifo(path));
    EXPECT_EQ(files(), 1);
    ::close(reader);
}

TEST_F(output_place_test, devices_and_folders_are_special_and_files_are_not) {
    EXPECT_TRUE(is_special("/dev/null"));
    EXPECT_TRUE(is_special(folder));
    EXPECT_TRUE(is_special("/dev/fd/1"));
    EXPECT_TRUE(is_special("/proc/self/fd/1"));
    EXPECT_FALSE(is_special(path));
    EXPECT_TRUE(replace(path, ""));
    EXPECT_FALSE(is_special(path));
}

TEST_F(output_place_test, what_cannot_be_put_is_told) {
    {
        replacement anew(folder / "none" / "run.out");
        errno = 0;
        EXPECT_FALSE(anew.put());
        EXPECT_EQ(errno, ENOENT);
        errno = EMFILE;
    }
    EXPECT_EQ(errno, EMFILE) << "taken for the reason of a loss";
}

}  // namespace
