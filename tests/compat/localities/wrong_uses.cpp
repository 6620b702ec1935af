// SPDX-License-Identifier: BSL-1.0
// Errors: what a program gets for a component of another type, a locality that does not exist, an
// empty id, and for what an action throws.
#include "checks.hpp"

#include <hpx/hpx.hpp>
#include <hpx/modules/testing.hpp>

#include <atomic>
#include <stdexcept>
#include <string>

/// Of cups, from their destructors.
std::atomic<int> ids_refused{0};

struct cup : hpx::components::component_base<cup> {
    cup() = default;
    ~cup() {
        try {
            static_cast<void>(get_id());
        } catch (hpx::exception const& e) {
            ids_refused += e.get_error() == hpx::error::invalid_status ? 1 : 0;
        }
    }
    int fill() { return 1; }
    HPX_DEFINE_COMPONENT_ACTION(cup, fill)
};
struct bowl : hpx::components::component_base<bowl> {
    virtual ~bowl() = default;
    virtual int fill() { return 2; }
    HPX_DEFINE_COMPONENT_ACTION(bowl, fill)
};

struct deep_bowl : bowl {
    int fill() override { return 3; }
};

int fail(int how) {
    if (how == 0) {
        throw std::invalid_argument("no such way");
    }
    if (how == 1) {
        HPX_THROW_EXCEPTION(hpx::error::invalid_status, "fail", "the second way");
    }
    throw how;
}
HPX_PLAIN_ACTION(fail, fail_action)

namespace {

/// The text of the hpx::exception with that code that f() throws, or a failed test.
template <class F>
std::string text_of(hpx::error code, F f) {
    try {
        f();
    } catch (hpx::exception const& e) {
        HPX_TEST_MSG(e.get_error() == code, std::string("the code of ") + e.what());
        return e.what();
    }
    HPX_TEST_MSG(false, "nothing was thrown");
    return "";
}
bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

void check_at(hpx::id_type const& at) {
    hpx::id_type const one = hpx::new_<bowl>(at).get();
    std::string const wrong_type =
        text_of(hpx::error::bad_component_type, [&] { cup::fill_action()(one); });
    HPX_TEST_MSG(has(wrong_type, "bowl") && has(wrong_type, "cup"), wrong_type);
    HPX_TEST_EQ(bowl::fill_action()(one), 2);
    HPX_TEST_EQ(bowl::fill_action()(hpx::new_<deep_bowl>(at).get()), 3);
    text_of(hpx::error::bad_component_type, [&] { cup::fill_action()(at); });
    text_of(hpx::error::bad_component_type, [&] { hpx::get_ptr<cup>(hpx::launch::sync, one); });
    if (at != hpx::find_here()) {
        text_of(hpx::error::bad_parameter, [&] { hpx::get_ptr<bowl>(hpx::launch::sync, one); });
    }

    HPX_TEST_THROW(fail_action()(at, 0), std::invalid_argument);
    HPX_TEST(has(text_of(hpx::error::invalid_status, [&] { fail_action()(at, 1); }), "second way"));
    hpx::future<int> neither = hpx::async<fail_action>(at, 2);
    HPX_TEST_THROW(neither.get(), std::runtime_error);
    HPX_TEST_THROW(one.component() ? fail_action()(one, 0) : 0, std::invalid_argument);
}

}  // namespace

void check_wrong_uses() {
    for (hpx::id_type const& each : hpx::find_all_localities()) {
        check_at(each);
    }
    hpx::id_type const nowhere = hpx::naming::get_id_from_locality_id(1000);
    HPX_TEST(has(text_of(hpx::error::bad_parameter, [&] { fail_action()(nowhere, 0); }), "1000"));
    text_of(hpx::error::bad_parameter, [&] { hpx::new_<cup>(nowhere).get(); });
    text_of(hpx::error::bad_parameter, [&] { hpx::async<fail_action>(hpx::invalid_id, 0).get(); });
    text_of(hpx::error::bad_parameter, [&] { cup::fill_action()(hpx::id_type()); });
    hpx::new_<cup>(hpx::find_here()).get() = hpx::id_type();
    while (ids_refused == 0) {
        hpx::this_thread::yield();
    }
    HPX_TEST(!hpx::agas::resolve_name(hpx::launch::sync, "not there"));
}
