// SPDX-License-Identifier: BSL-1.0
// Errors: codes of hpx::exception, error_code instead of exceptions, exceptions stored in futures,
// and waits that throw or do not.
#include <hpx/exception.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/testing.hpp>

#include <functional>
#include <list>
#include <stdexcept>
#include <string>
#include <vector>

int fails() { HPX_THROW_EXCEPTION(hpx::error::bad_parameter, "fails", "the value {} is bad", 3); }

void thrown() {
    try {
        hpx::async(fails).get();
        HPX_TEST(false);
    } catch (hpx::exception const& e) {
        HPX_TEST(e.get_error() == hpx::error::bad_parameter);
        HPX_TEST(std::string(e.what()).find("the value 3 is bad") != std::string::npos);
        HPX_TEST_EQ(hpx::get_error_function_name(e), "fails");
        HPX_TEST(hpx::diagnostic_information(e).find("error_handling.cpp") != std::string::npos);
    }
    hpx::error_code ec(hpx::throwmode::lightweight);
    hpx::future<int> f = hpx::async(fails);
    f.get(ec);
    HPX_TEST(ec);
    HPX_TEST_EQ(ec.value(), static_cast<int>(hpx::error::bad_parameter));
}

void states_of_futures() {
    hpx::future<int> none;
    HPX_TEST(!none.valid() && !none.is_ready() && !none.has_value() && !none.has_exception());
    try {
        none.get();
        HPX_TEST(false);
    } catch (hpx::exception const& e) {
        HPX_TEST(e.get_error() == hpx::no_state);
    }
    hpx::promise<int> p;
    hpx::future<int> f = p.get_future();
    HPX_TEST_THROW(p.get_future(), hpx::exception);
    p.set_value(1);
    HPX_TEST(f.has_value() && !f.has_exception());
    HPX_TEST_THROW(p.set_value(2), hpx::exception);
    {
        hpx::promise<int> given_up;
        f = given_up.get_future();
    }
    HPX_TEST(f.has_exception());
    try {
        f.get();
        HPX_TEST(false);
    } catch (hpx::exception const& e) {
        HPX_TEST(e.get_error() == hpx::error::broken_promise);
    }
}

void waits() {
    std::vector<hpx::future<int>> all;
    all.push_back(hpx::make_ready_future(1));
    all.push_back(hpx::make_exceptional_future<int>(std::runtime_error("wrong")));
    HPX_TEST(hpx::wait_all_nothrow(all));
    HPX_TEST_THROW(hpx::wait_all(all), std::runtime_error);
    HPX_TEST_THROW(hpx::wait_all(all.begin(), all.end()), std::runtime_error);
    HPX_TEST_THROW(hpx::wait_all_n(all.begin(), all.size()), std::runtime_error);
    HPX_TEST_THROW(hpx::wait_some(2, all), std::runtime_error);
    HPX_TEST(!hpx::wait_any_nothrow(all[0]));
    HPX_TEST_EQ(all[0].get(), 1);  // still there
    HPX_TEST_THROW(all[1].get(), std::runtime_error);
    HPX_TEST_THROW(hpx::when_some(3, hpx::make_ready_future(1)), hpx::exception);
}

void conversions() {
    hpx::future<void> dropped = hpx::async([] { return 42; });
    dropped.get();
    hpx::future<int> flat = hpx::async([] { return hpx::async([] { return 1; }); });
    HPX_TEST_EQ(flat.get(), 1);
    int x = 3;
    hpx::future<int&> reference = hpx::make_ready_future(std::ref(x));
    HPX_TEST_EQ(&reference.get(), &x);
    hpx::future<double> wider = hpx::make_future<double>(hpx::make_ready_future(2));
    HPX_TEST_EQ(wider.get(), 2.0);
    HPX_TEST_EQ(hpx::unwrap_all(hpx::make_ready_future(hpx::make_ready_future(5))), 5);
    std::list<hpx::future<int>> list;
    list.push_back(hpx::make_ready_future(1));
    std::list<int> const values = hpx::unwrap(list);
    HPX_TEST_EQ(values.front(), 1);
    hpx::future<int> a = hpx::make_ready_future(1), b = hpx::make_ready_future(2);
    auto both = hpx::when_all(a, b).get();  // moved away, though they are lvalues
    HPX_TEST(!a.valid() && !b.valid());
    HPX_TEST_EQ(hpx::get<0>(both).get() + hpx::get<1>(both).get(), 3);
}

int hpx_main() {
    thrown();
    states_of_futures();
    waits();
    conversions();
    HPX_THROW_EXCEPTION(hpx::error::invalid_status, "hpx_main", "leaves hpx_main");
}

int main(int argc, char* argv[]) {
    HPX_TEST_THROW(hpx::local::init(hpx_main, argc, argv), hpx::exception);
    return hpx::util::report_errors();
}
