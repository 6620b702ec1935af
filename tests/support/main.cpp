// SPDX-License-Identifier: BSL-1.0
// The main function of all test programs. A program holds the tests of many sources; ctest runs
// each source in a process of its own: `--source=async_test.cpp` runs the cases in that file,
// whatever their names. Without this argument it is GoogleTest's own main. Must never report
// success when no test was run.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

std::string_view file_name(std::string_view path) {
    return path.substr(path.find_last_of('/') + 1);
}

/// Removes `--source=NAME` from the arguments; returns NAME, or nothing.
std::string_view take_source(int& argc, char** argv) {
    constexpr std::string_view k_option = "--source=";
    std::string_view source;
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument.starts_with(k_option)) {
            source = argument.substr(k_option.size());
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    argv[argc] = nullptr;
    return source;
}

/// A GoogleTest filter that names each case of the source.
std::string cases_of(std::string_view source) {
    std::string filter;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (file_name(test.file()) == source) {
                filter += std::string(suite.name()) + '.' + test.name() + ':';
            }
        }
    }
    return filter;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view source = take_source(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    if (!source.empty()) {
        const std::string cases = cases_of(source);
        if (cases.empty()) {
            std::fprintf(stderr, "no test case stands in a source called '%s'\n", source.data());
            return 2;
        }
        GTEST_FLAG_SET(filter, cases);
    }
    return RUN_ALL_TESTS();
}
