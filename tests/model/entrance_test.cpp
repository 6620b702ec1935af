// SPDX-License-Identifier: BSL-1.0
// The entrance to MPI (src/mpi/README.md): one thread at a time is inside, nothing that was left is
// forgotten, and what is left is served oldest first, once, with the writes of the one that left
// it.
#include "protocol.hpp"

#include <quern/mpi/detail/entrance.hpp>

#include <array>
#include <cstddef>

namespace {

using model::check;
using model::run;
using model::var;

using entrance_type = quern::mpi::detail::entrance<model::protocol_atomics>;

struct request : entrance_type::item {
    var<int> written = 0;  // by its caller
    var<int> served = 0;
};

struct library {
    entrance_type door;
    std::array<request, 3> requests;
    var<int> inside = 0;  // a race here: two were inside
    var<int> in_order = 0;

    void serve(entrance_type::item& left) {
        auto& one = static_cast<request&>(left);
        check(one.written == 1, "the holder sees what the caller wrote");
        inside = inside + 1;
        one.served = one.served + 1;
    }
    void leave() {
        door.leave([this](entrance_type::item& left) { serve(left); });
    }
    void leave_in_order() {
        door.leave([this](entrance_type::item& left) {
            const auto which = static_cast<request*>(&left) - requests.data();
            check(which == in_order, "oldest first");
            in_order = in_order + 1;
        });
    }
    /// engine::run.
    void call(std::size_t which) {
        requests[which].written = 1;
        if (door.try_enter()) {
            serve(requests[which]);
            leave();
        } else if (door.hand_over(requests[which])) {
            leave();
        }
    }
    /// engine::look.
    void look() {
        if (door.try_enter()) {
            inside = inside + 1;
            leave();
        }
    }
    void check_served(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            check(requests[i].served == 1, "each request was served once");
        }
    }
};

void serves_all(const char* what, std::size_t callers, bool looks) {
    model::expect_passes_everywhere(what, {}, [=](run& r) {
        auto& l = r.make<library>();
        for (std::size_t i = 0; i < callers; ++i) {
            r.thread([&l, i] { l.call(i); });
        }
        if (looks) {
            r.thread([&l] { l.look(); });
        }
        r.at_end([&l, callers] { l.check_served(callers); });
    });
}

TEST(model_entrance, two_callers_are_served) { serves_all("two callers", 2, false); }
TEST(model_entrance, two_callers_beside_a_look_are_served) { serves_all("beside a look", 2, true); }

TEST(model_entrance, what_one_caller_leaves_is_served_in_order) {
    model::expect_passes_everywhere("order", {}, [](run& r) {
        auto& l = r.make<library>();
        r.thread([&l] {
            if (l.door.try_enter()) {
                l.leave_in_order();
            }
        });
        r.thread([&l] {
            for (request& one : l.requests) {
                if (l.door.hand_over(one)) {
                    l.leave_in_order();
                }
            }
        });
        r.at_end([&l] { check(l.in_order == 3, "all were served"); });
    });
}

/// Broken: the holder does not look again after it has left.
TEST(model_entrance, a_holder_that_does_not_look_again_is_found) {
    model::expect_found_broken("no second look", {}, [](run& r) {
        struct door {
            model::atomic<int> taken = 0;
            model::atomic<int> left = 0;
            var<int> served = 0;
        };
        auto& d = r.make<door>();
        r.thread([&d] {
            if (d.taken.exchange(1) == 0) {
                if (d.left.exchange(0) != 0) {
                    d.served = d.served + 1;
                }
                d.taken.store(0);
            }
        });
        r.thread([&d] {
            d.left.store(1);
            if (d.taken.exchange(1) == 0) {
                if (d.left.exchange(0) != 0) {
                    d.served = d.served + 1;
                }
                d.taken.store(0);
            }
        });
        r.at_end([&d] { check(d.served == 1, "what was left is served"); });
    });
}

}  // namespace
