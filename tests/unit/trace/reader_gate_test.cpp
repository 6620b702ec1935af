// SPDX-License-Identifier: BSL-1.0
// Waiting for readers ends when those that were inside have left, whatever comes later.
#include "record/reader_gate.hpp"

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

namespace {

using quern::trace::detail::reader_gate;

TEST(reader_gate_test, waits_for_a_reader_that_is_inside) {
    reader_gate gate;
    gate.wait_for_readers();  // there is none
    std::optional<reader_gate::reading> reading(std::in_place, gate);
    std::atomic<bool> has_waited{false};
    std::thread writer([&] {
        gate.wait_for_readers();
        has_waited = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(has_waited);
    reading.reset();
    writer.join();
    EXPECT_TRUE(has_waited);
}

TEST(reader_gate_test, does_not_wait_for_readers_that_come_later) {
    reader_gate gate;
    std::optional<reader_gate::reading> before(std::in_place, gate);
    std::atomic<bool> has_waited{false};
    std::thread writer([&] {
        gate.wait_for_readers();
        has_waited = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it has changed the phase
    const reader_gate::reading later(gate);
    before.reset();
    EXPECT_TRUE(quern_test::eventually([&] { return has_waited.load(); }));
    writer.join();
}

TEST(reader_gate_test, forgets_readers_that_a_fork_has_left_behind) {
    reader_gate gate;
    alignas(reader_gate::reading) std::array<std::byte, sizeof(reader_gate::reading)> lost{};
    new (lost.data()) reader_gate::reading(gate);  // never leaves
    gate.forget_readers();
    gate.wait_for_readers();
}

/// A plain value, so that the thread sanitizer sees what the gate orders.
TEST(reader_gate_test, orders_what_readers_read_before_what_the_writer_frees) {
    reader_gate gate;
    std::atomic<int*> shown{new int(0)};
    std::atomic<bool> enough{false};
    std::atomic<int> reads{0};
    const auto read = [&] {
        while (!enough) {
            const reader_gate::reading reading(gate);
            reads += *shown.load() >= 0 ? 1 : 0;
        }
    };
    std::array<std::thread, 3> readers{std::thread(read), std::thread(read), std::thread(read)};
    for (int i = 1; i <= quern_test::scaled(2'000, 300); ++i) {
        const std::unique_ptr<int> old(shown.exchange(new int(i)));
        gate.wait_for_readers();
        *old = -1;
    }
    EXPECT_TRUE(quern_test::eventually([&] { return reads > 0; }));
    enough = true;
    for (std::thread& each : readers) {
        each.join();
    }
    delete shown.load();
}

}  // namespace
