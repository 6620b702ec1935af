// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of queries to processes: a folder for each case, and the queries.
#pragma once

#include "child.hpp"
#include "stress/process.hpp"

#include <quern/counters/programs.hpp>
#include <quern/quern.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace quern_test {

namespace fs = std::filesystem;
using quern::counters::ask;
using quern::counters::cannot_ask;

inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// The error of ask(); empty if it succeeds.
inline std::string refusal(pid_t program) {
    try {
        ask(program, "hello", std::chrono::milliseconds(500));
        return "";
    } catch (const cannot_ask& error) {
        return error.what();
    }
}

inline bool can_be_asked(pid_t program) { return refusal(program).empty(); }

class live_test : public testing::Test {
protected:
    live_test() { ::chmod(m_home.c_str(), S_IRWXU); }
    ~live_test() override { fs::remove_all(m_home); }

    /// Runs a case in a process that has the folder to itself.
    template <class Main>
    ended play(Main&& main, std::vector<std::pair<std::string, std::string>> variables = {}) {
        variables.emplace_back("XDG_RUNTIME_DIR", m_home);
        return in_child({.variables = variables}, [&](int&, char**) {
            ::alarm(k_patience);
            return main();
        });
    }

    std::string folder() const { return m_home + "/quern"; }
    std::string socket_of(pid_t program) const { return folder() + "/" + std::to_string(program); }

private:
    static std::string fresh_folder() {
        std::string name = fs::temp_directory_path() / "quern-live-XXXXXX";
        return ::mkdtemp(name.data());
    }

    const std::string m_home = fresh_folder();
};

}  // namespace quern_test
