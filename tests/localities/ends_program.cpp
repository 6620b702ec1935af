// SPDX-License-Identifier: BSL-1.0
// Jobs of localities that end by an error; check_ends.py starts them. Usage: <program> <case>, with
// a further argument by which the processes of a job are found. Compiled twice, with different
// values of QUERN_TEST_BUILD: two programs.
#include <quern/localities/communicator.hpp>
#include <quern/localities/names.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/sync/event.hpp>
#include <quern/task/this_task.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using quern::localities::count;
using quern::localities::here;
using quern::localities::post_to;
using quern::localities::run_at;

/// Differs between the two programs: so does their build id.
constexpr int k_build = QUERN_TEST_BUILD;

void say_ready() {
    std::printf("rank %d is ready: %d\n", here(), static_cast<int>(::getpid()));
    std::fflush(stdout);
}

int last() { return count() - 1; }

/// The last locality fails while the others wait at the end.
void throw_from_session() {
    if (here() == last()) {
        run_at(0, [] { return k_build; }).get();
        throw std::runtime_error("this rank gives up");
    }
}

void post_everywhere(void (*function)()) {
    for (int to = 0; to < count(); ++to) {
        for (int i = 0; i < 1000; ++i) {
            post_to(to, [] { quern::this_task::yield(); });
        }
        post_to(to, function);
    }
}

/// The same while calls are under way, and some wait for answers that do not come.
void throw_while_calls_wait() {
    post_everywhere([] {
        run_at((here() + 1) % count(), [] {
            quern::event never;
            never.wait();
        }).get();
    });
    throw_from_session();
}

/// The same while some sleep: the end of the process waits for its runtime.
void throw_while_calls_sleep() {
    post_everywhere([] { quern::this_task::sleep_for(1s); });
    throw_from_session();
}

/// An exception of a posted function, without a handler.
void throw_in_posted() {
    if (here() == 0) {
        post_to(last(), [] { throw std::runtime_error("nothing waits for this"); });
    }
}

/// The last locality is killed while the others wait for an answer that it owes them.
void wait_to_be_killed() {
    say_ready();
    run_at(last(), [] { quern::this_task::sleep_for(1h); }).get();
}

struct mesh {
    int size = 0;
};

/// A name is misspelt. The last locality gives up after more than the patience of find().
void look_for_a_name() {
    if (here() == last()) {
        const auto all = quern::localities::make_at<mesh>(0, k_build);
        quern::localities::publish("mesh", all).get();
        const auto misspelt = quern::localities::find<mesh>("mehs");
        std::this_thread::sleep_for(15s);
        throw std::runtime_error("this rank gives up");
    }
}

/// What is pinned outlives the session of the last locality, which waits for it.
void keep_what_is_pinned() {
    static quern::localities::object<mesh> one;
    static std::optional<quern::localities::pinned<mesh>> kept;
    if (here() == last()) {
        one = quern::localities::make_at<mesh>(here(), k_build);
        kept.emplace(one.pin());
        std::thread([] {
            std::this_thread::sleep_for(15s);
            std::_Exit(3);
        }).detach();
    }
}

/// The last locality leaves by exit() while the others wait at the end.
void leave_by_exit() {
    if (here() == last()) {
        run_at(0, [] { return k_build; }).get();
        std::printf("this rank leaves\n");
        std::exit(3);
    }
}

/// The last locality never calls an operation that the others wait in.
void leave_out_a_collective() {
    const quern::localities::communicator all("residual");
    if (here() == last()) {
        std::this_thread::sleep_for(1h);
    }
    const auto sum = all.all_reduce(k_build, std::plus<>());
    std::this_thread::sleep_for(1s);
    if (here() == 0) {
        std::fprintf(stderr, "%s", quern::task_report().c_str());
        throw std::runtime_error("this rank gives up");
    }
    std::this_thread::sleep_for(1h);
}

void meet() { run_at(last(), &here).get(); }

void run_case(const char* name) {
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    is("throw")           ? throw_from_session()
    : is("throw-waiting") ? throw_while_calls_wait()
    : is("throw-asleep")  ? throw_while_calls_sleep()
    : is("throw-posted")  ? throw_in_posted()
    : is("killed")        ? wait_to_be_killed()
    : is("name")          ? look_for_a_name()
    : is("pinned")        ? keep_what_is_pinned()
    : is("collective")    ? leave_out_a_collective()
    : is("exit")          ? leave_by_exit()
    : is("meet")          ? meet()
                          : throw std::invalid_argument("no such case");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const char* const name = argc > 1 ? argv[1] : "";
        const bool is_again = std::strcmp(name, "meet-again") == 0;
        {
            const quern::localities::session job(argc, argv);
            run_case(is_again ? "meet" : name);
        }
        if (is_again) {  // the first one has finalised MPI
            const quern::localities::session second(argc, argv);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
