// SPDX-License-Identifier: BSL-1.0
// A job of which check_printing.py reads the printed counters: the root calls locality 1 a hundred
// times, within about half a second.
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
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
