#include <quern/adaptation/policy.hpp>
#include <quern/quern.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace adaptation = quern::adaptation;

// The event of this program, and its value: the points of the next grid.
constexpr quern::trace::custom_event next_grid("next grid");

int main() {
    quern::runtime rt(quern::runtime_options::with_workers(4));
    auto narrow = adaptation::on(next_grid, "narrow", [](adaptation::policy_context& now) {
        const auto useful = static_cast<unsigned>(now.value() / 1000);
        now.add_input("grid " + std::to_string(static_cast<int>(now.value())));
        now.set("active-workers", useful, "a worker needs 1000 points");
    });

    for (int points = 8000; points > 500; points /= 2) {
        // ... solve the grid with tasks, and make a coarser one ...
        next_grid.fire(points / 2);
    }

    while (rt.default_pool().active_workers() > 1) {  // policies run later than their events
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    narrow.stop();  // waits for the call in progress
    for (const auto& each : adaptation::decisions()) {
        std::puts(adaptation::text_of(each).c_str());
    }
}
