// SPDX-License-Identifier: BSL-1.0
// Looking into processes from outside: who can be asked and when, fork(), the dead, strangers in
// the folder. Every case has a folder of its own.
#include "child.hpp"
#include "stress/process.hpp"

#include <quern/counters/programs.hpp>
#include <quern/quern.hpp>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
// In the child of a fork, what the parent's other threads hold looks lost.
extern "C" int __lsan_is_turned_off() { return 1; }  // NOLINT: the sanitizer's name
#endif

namespace {

namespace fs = std::filesystem;
using quern::runtime;
using quern::runtime_options;
using quern::counters::ask;
using quern::counters::cannot_ask;
using quern::counters::live_programs;
using quern_test::eventually;
using quern_test::fork_and_wait;

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// What ask() says when it fails; empty when it does not.
std::string refusal(pid_t program) {
    try {
        ask(program, "hello", std::chrono::milliseconds(500));
        return "";
    } catch (const cannot_ask& error) {
        return error.what();
    }
}

bool can_be_asked(pid_t program) { return refusal(program).empty(); }

class live_test : public testing::Test {
protected:
    live_test() { ::chmod(m_home.c_str(), S_IRWXU); }
    ~live_test() override { fs::remove_all(m_home); }

    /// Plays a case in a process that has the folder for itself.
    template <class Main>
    quern_test::ended play(Main&& main,
                           std::vector<std::pair<std::string, std::string>> variables = {}) {
        variables.emplace_back("XDG_RUNTIME_DIR", m_home);
        return quern_test::in_child({.variables = variables}, [&](int&, char**) {
            ::alarm(quern_test::k_patience);
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

TEST_F(live_test, a_program_answers_while_it_has_a_runtime) {
    const auto end = play([&] {
        const pid_t self = ::getpid();
        const bool before = can_be_asked(self);
        std::optional<runtime> rt(std::in_place, runtime_options::with_workers(2));
        const bool during = eventually([&] { return can_be_asked(self); });
        const std::string hello = ask(self, "hello");
        std::puts(hello.c_str());
        const bool listed = live_programs() == std::vector{self};
        rt.reset();
        const bool gone = !fs::exists(socket_of(self)) && live_programs().empty();
        const bool says_so = has(hello, "\"protocol\":1") &&
                             has(hello, "\"pid\":" + std::to_string(self)) &&
                             has(hello, "\"pools\":[{\"name\":\"default\",\"workers\":2}]");
        return !before && during && listed && gone && says_so ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

}  // namespace
