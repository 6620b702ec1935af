// SPDX-License-Identifier: BSL-1.0
// The file of history: what a second run takes from it, what is no history, and several processes.
#include <quern/adaptation/region.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>

#include "unit/adaptation/regions.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::by;
using quern_test::enter_until_converged;
using quern_test::with_setting;

std::string path_of(const char* name) {
    return testing::TempDir() + name + std::to_string(::getpid());
}

std::string contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

long lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// Holds: history: With the setting tune-history a second run begins where the first one ended, and
//     one trial confirms it.
TEST(tuning_history_test, is_used_by_the_next_region) {
    const std::string path = path_of("history_");
    ::unlink(path.c_str());
    const with_setting file("tune-history", path, "");
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    const auto search = [] {
        region_options options = by(strategy::exhaustive);
        options.search.drift = 1e5;  // the machine may be slower now
        region where("solve", space({integer("x", 0, 7)}), options);
        const int entries = enter_until_converged(where, 5);
        return std::pair(entries, where.best()["x"]);
    };
    const auto first = search();
    EXPECT_EQ(first.first, 8);
    const std::string text = contents(path);
    EXPECT_TRUE(text.starts_with("quern tuning history 1\nsolve\tx<2^3\t")) << text;
    EXPECT_EQ(lines_of(text), 2) << text;
    EXPECT_TRUE(text.ends_with("\t8;1.000\n")) << text;  // trials, and confidence
    const auto second = search();
    EXPECT_EQ(second.first, 1);
    EXPECT_EQ(second.second, first.second);
    EXPECT_EQ(contents(path), text);
    region another("another", space({integer("x", 0, 7)}), by(strategy::exhaustive));
    EXPECT_EQ(enter_until_converged(another, 5), 8);  // a key of its own
    ::unlink(path.c_str());
}

// Holds: history: What was found beside other programs is searched again, from there; a result
//     without a confidence, as earlier versions wrote it, is sure.
TEST(tuning_history_test, searches_again_what_is_not_sure) {
    const std::string path = path_of("unsure_history_");
    ::unlink(path.c_str());
    const with_setting file("tune-history", path, "");
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    const auto entries = [] {
        region_options options = by(strategy::exhaustive);
        options.search.drift = 1e5;  // the machine may be slower now
        region where("unsure", space({integer("x", 0, 7)}), options);
        return enter_until_converged(where, 5);
    };
    EXPECT_EQ(entries(), 8);
    const std::string sure = contents(path);
    const std::size_t at = sure.rfind(";1.000");
    ASSERT_NE(at, std::string::npos);
    std::ofstream(path) << sure.substr(0, at) + "\n";
    EXPECT_EQ(entries(), 1);
    std::ofstream(path) << sure.substr(0, at) + ";0.400\n";
    EXPECT_EQ(entries(), 8);
    EXPECT_TRUE(contents(path).ends_with(";1.000\n"));
    EXPECT_EQ(entries(), 1);
    ::unlink(path.c_str());
}

/// What a region says and does with this file.
std::string said_with(const std::string& path, int& entries) {
    const with_setting file("tune-history", path, "");
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    testing::internal::CaptureStderr();
    region where("solve", space({integer("x", 0, 3)}), by(strategy::exhaustive));
    entries = enter_until_converged(where, 1);
    return testing::internal::GetCapturedStderr();
}

// Holds: history: A file that is damaged, foreign, newer or cannot be written is said and ignored,
//     and nothing in it is lost.
TEST(tuning_history_test, survives_bad_files) {
    const std::string path = path_of("bad_history_");
    int entries = 0;
    const auto with = [&](const std::string& text) {
        std::ofstream(path) << text;
        const std::string said = said_with(path, entries);
        EXPECT_EQ(entries, 4) << text;
        EXPECT_TRUE(contents(path).starts_with(text)) << text;
        return said;
    };
    EXPECT_EQ(with("quern tuning history 1\nsolve\tx<2^2\tcut o"),
              "quern: tune-history '" + path + "': line 2 is damaged and ignored\n");
    EXPECT_EQ(lines_of(contents(path)), 3);  // and a result
    const std::string newer = "quern tuning history 2\nsomething else\n";
    EXPECT_EQ(with(newer), "quern: tune-history '" + path +
                               "': is of version 2; this library knows version 1; it is neither "
                               "read nor written\n");
    EXPECT_EQ(contents(path), newer);
    const std::string foreign = "[package]\nname = 1\n";
    EXPECT_EQ(with(foreign), "quern: tune-history '" + path +
                                 "': is no tuning history: it begins with '[package]'; it is "
                                 "neither read nor written\n");
    EXPECT_EQ(contents(path), foreign);
    ::unlink(path.c_str());
    EXPECT_EQ(said_with("/there/is/no/such/folder/history", entries),
              "quern: tune-history '/there/is/no/such/folder/history': what was found is not "
              "kept: No such file or directory\n");
    EXPECT_EQ(entries, 4);
}

// Holds: history: A folder, and what is no file, is said once and ignored.
TEST(tuning_history_test, survives_paths_that_are_no_files) {
    int entries = 0;
    const std::string folder = testing::TempDir();
    EXPECT_EQ(said_with(folder, entries), "quern: tune-history '" + folder +
                                              "': cannot be read: Is a directory; it is neither "
                                              "read nor written\n");
    EXPECT_EQ(entries, 4);
    const std::string pipe = path_of("history_pipe_");
    ::unlink(pipe.c_str());
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(said_with(pipe, entries), "quern: tune-history '" + pipe +
                                            "': cannot be read: it is no file; it is neither read "
                                            "nor written\n");
    EXPECT_EQ(entries, 4);
    ::unlink(pipe.c_str());
}

// Holds: history: Several processes may write at the same time.
TEST(tuning_history_test, is_written_by_several_processes) {
    const std::string path = path_of("shared_history_");
    ::unlink(path.c_str());
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            quern::set_setting("tune-history", path);
            {
                const quern::runtime rt(quern::runtime_options::with_workers(1));
                for (int k = 0; k < 10; ++k) {
                    region where("r" + std::to_string(i) + "." + std::to_string(k),
                                 space({integer("x", 0, 1)}), by(strategy::exhaustive));
                    while (!where.converged()) {
                        static_cast<void>(where.enter());
                    }
                }
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    const std::string text = contents(path);
    EXPECT_EQ(lines_of(text), 41) << text;
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 10; ++k) {
            EXPECT_NE(text.find("\nr" + std::to_string(i) + "." + std::to_string(k) + "\t"),
                      std::string::npos);
        }
    }
    ::unlink(path.c_str());
}

}  // namespace
