// SPDX-License-Identifier: BSL-1.0
// A job of which check_printing.py reads the printed counters: the root calls locality 1 a hundred
// times, within about half a second. With the argument "plain" it is without a session: each rank
// runs ten tasks.
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>
#include <quern/mpi/environment.hpp>
#include <quern/task/async.hpp>

#include <chrono>
#include <cstring>
#include <thread>

namespace {

void run_plain(int& argc, char**& argv) {
    const quern::mpi::environment mpi(argc, argv);
    for (int i = 0; i < 10; ++i) {
        quern::async([] {}).get();
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "plain") == 0) {
        run_plain(argc, argv);
        return 0;
    }
    const quern::localities::session job(argc, argv);
    if (quern::localities::here() != quern::localities::root) {
        return 0;
    }
    for (int i = 0; i < 100; ++i) {
        quern::localities::run_at(1, [] {}).get();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return 0;
}
