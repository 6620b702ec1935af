// SPDX-License-Identifier: BSL-1.0
// What localities do together: collective operations, names, barriers, latches and promises.
#include "checks.hpp"

#include <hpx/hpx.hpp>
#include <hpx/include/serialization.hpp>
#include <hpx/modules/collectives.hpp>
#include <hpx/modules/testing.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Starts an action at all localities, and adds the numbers of failed tests that they give.
template <class Action>
void at_all_localities() {
    std::vector<hpx::future<int>> all;
    for (hpx::id_type const& each : hpx::find_all_localities()) {
        all.push_back(hpx::async<Action>(each));
    }
    int failed = 0;
    for (hpx::future<int>& each : all) {
        failed += each.get();
    }
    HPX_TEST_EQ(failed, 0);
}

}  // namespace

int do_collectives() {
    using namespace hpx::collectives;
    std::uint32_t const sites = hpx::get_num_localities(hpx::launch::sync);
    std::uint32_t const here = hpx::get_locality_id();
    std::size_t const last = sites - 1;
    auto const all = create_communicator("agreement", num_sites_arg(sites), this_site_arg(here),
                                         generation_arg(), root_site_arg(last));
    std::vector<std::uint32_t> numbers(sites);
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::uint32_t const sum = std::accumulate(numbers.begin(), numbers.end(), 0u);

    HPX_TEST_EQ(all_reduce(all, here, std::plus<>(), this_site_arg(here)).get(), sum);
    HPX_TEST(all_gather(all, here).get() == numbers);
    if (here == last) {
        HPX_TEST_EQ(reduce_here(all, here, std::plus<>()).get(), sum);
        HPX_TEST(gather_here(all, here).get() == numbers);
        HPX_TEST_EQ(broadcast_to(all, std::string("hello")).get(), "hello");
        HPX_TEST_EQ(scatter_to(all, numbers).get(), here);
    } else {
        reduce_there(all, here).get();
        gather_there(all, here).get();
        HPX_TEST_EQ(broadcast_from<std::string>(all).get(), "hello");
        HPX_TEST_EQ(scatter_from<std::uint32_t>(all).get(), here);
    }
    std::vector<std::uint32_t> to(sites);
    for (std::uint32_t i = 0; i < sites; ++i) {
        to[i] = 100 * here + i;
    }
    std::vector<std::uint32_t> const from = all_to_all(all, to).get();
    for (std::uint32_t i = 0; i < sites; ++i) {
        HPX_TEST_EQ(from[i], 100 * i + here);
    }
    HPX_TEST_EQ(inclusive_scan(all, 1u, std::plus<>()).get(), here + 1);
    HPX_TEST_EQ(exclusive_scan(all, 1u, std::plus<>()).get(), here);
    HPX_TEST_EQ(exclusive_scan(all, 1u, 10u, std::plus<>()).get(), here + 10);

    // Without a communicator.
    for (std::size_t i = 1; i < 4; ++i) {
        HPX_TEST_EQ(all_reduce("at_once", here, std::plus<>(), num_sites_arg(sites),
                               this_site_arg(here), generation_arg(i))
                        .get(),
                    sum);
    }
    HPX_TEST(all_gather("at_once", here).get() == numbers);
    // Who gathers is the root.
    if (here == last) {
        HPX_TEST(gather_here("to_last", here, num_sites_arg(sites)).get() == numbers);
        HPX_TEST_EQ(reduce_here("to_last", here, std::plus<>()).get(), sum);
        HPX_TEST_EQ(scatter_to("to_last", numbers).get(), here);
    } else {
        gather_there("to_last", here, num_sites_arg(sites), root_site_arg(last)).get();
        reduce_there("to_last", here, root_site_arg(last)).get();
        HPX_TEST_EQ(scatter_from<std::uint32_t>("to_last", root_site_arg(last)).get(), here);
        HPX_TEST_THROW(gather_here(all, here), hpx::exception);
        HPX_TEST_THROW(reduce_here(all, here, std::plus<>()), hpx::exception);
        HPX_TEST_THROW(broadcast_to(all, here), hpx::exception);
        HPX_TEST_THROW(scatter_to(all, numbers), hpx::exception);
    }
    hpx::future<int> got = here == 0 ? broadcast_to("at_once", 7, num_sites_arg(sites))
                                     : broadcast_from<int>("at_once", num_sites_arg(sites));
    HPX_TEST_EQ(got.get(), 7);

    // As values.
    HPX_TEST_EQ(all_reduce(hpx::launch::sync, all, here, std::plus<>()), sum);
    HPX_TEST(all_gather(hpx::launch::sync, "at_once", here, generation_arg(9)) == numbers);
    HPX_TEST_EQ(here == last ? broadcast_to(hpx::launch::sync, all, 3)
                             : broadcast_from<int>(hpx::launch::sync, all),
                3);

    // One site per locality.
    HPX_TEST_THROW(create_communicator("wrong", num_sites_arg(sites), this_site_arg(here + 1)),
                   hpx::exception);
    hpx::distributed::barrier::synchronize();
    return hpx::util::report_errors();
}
HPX_PLAIN_ACTION(do_collectives, do_collectives_action)

void check_collectives() { at_all_localities<do_collectives_action>(); }

struct named : hpx::components::component_base<named> {
    explicit named(std::uint32_t n = 0) : number(n) {}
    std::uint32_t get() const { return number; }
    HPX_DEFINE_COMPONENT_ACTION(named, get)
    std::uint32_t number;
};
HPX_REGISTER_COMPONENT(named, named)
using named_client = hpx::components::client<named>;

int use_names() {
    std::uint32_t const sites = hpx::get_num_localities(hpx::launch::sync);
    std::uint32_t const here = hpx::get_locality_id();
    auto found = hpx::find_all_from_basename("neighbours", sites);  // before it is registered
    hpx::future<hpx::id_type> one = hpx::new_<named>(hpx::find_here(), here);
    HPX_TEST(hpx::register_with_basename("neighbours", std::move(one), here).get());
    for (std::uint32_t i = 0; i < sites; ++i) {
        HPX_TEST_EQ(named::get_action()(found[i].get()), i);
    }
    auto const next = hpx::find_from_basename<named_client>("neighbours", (here + 1) % sites);
    HPX_TEST_EQ(hpx::async<named::get_action>(next.get_id()).get(), (here + 1) % sites);
    hpx::distributed::barrier("names").wait();
    HPX_TEST(hpx::unregister_with_basename("neighbours", here).get());
    HPX_TEST(!hpx::unregister_with_basename("neighbours", here).get());

    std::string const name = "place of " + std::to_string(here);
    HPX_TEST(hpx::agas::register_name(hpx::launch::sync, name, hpx::find_here()));
    HPX_TEST(hpx::agas::resolve_name(hpx::launch::sync, name) == hpx::find_here());
    HPX_TEST(hpx::agas::unregister_name(name).get() == hpx::find_here());
    return hpx::util::report_errors();
}
HPX_PLAIN_ACTION(use_names, use_names_action)

void check_names() { at_all_localities<use_names_action>(); }

void arrive(hpx::distributed::latch at, hpx::id_type answer_to) {
    at.count_down(1);
    at.wait();
    hpx::set_lco_value(answer_to, std::uint32_t(hpx::get_locality_id()));
}
HPX_PLAIN_ACTION(arrive, arrive_action)

void check_control_objects() {
    std::vector<hpx::id_type> const all = hpx::find_all_localities();
    hpx::distributed::latch latch(static_cast<std::ptrdiff_t>(all.size()) + 1);
    std::vector<hpx::distributed::promise<std::uint32_t>> answers(all.size());
    std::vector<hpx::future<std::uint32_t>> futures;
    for (std::size_t i = 0; i < all.size(); ++i) {
        futures.push_back(answers[i].get_future());
        hpx::post<arrive_action>(all[i], latch, answers[i].get_id());
    }
    HPX_TEST(!latch.try_wait());
    latch.arrive_and_wait();
    HPX_TEST(latch.try_wait());
    for (std::size_t i = 0; i < all.size(); ++i) {
        HPX_TEST_EQ(futures[i].get(), i);
    }

    // Values of one sender keep their order.
    hpx::distributed::channel<int> values(all.back());
    std::vector<hpx::future<int>> received;
    for (int i = 0; i < 20; ++i) {
        received.push_back(values.get());
        values.set(i);
    }
    for (int i = 0; i < 20; ++i) {
        HPX_TEST_EQ(received[static_cast<std::size_t>(i)].get(), i);
    }
    hpx::future<int> none = values.get();
    HPX_TEST_EQ(values.close(hpx::launch::sync), std::size_t(1));
    HPX_TEST_THROW(none.get(), hpx::exception);
}

namespace shapes {

/// As HPX's programs are serialised: with a version, and by operators.
class box {
public:
    box() = default;
    box(int w, std::string n) : width(w), name(std::move(n)) {}
    bool operator==(box const& other) const { return width == other.width && name == other.name; }

private:
    friend class hpx::serialization::access;
    template <class Archive>
    void serialize(Archive& ar, unsigned int const) {
        ar& width& name;
    }
    int width = 0;
    std::string name;
};

/// Written and read by two functions.
class pile {
public:
    void add(box one) { boxes.push_back(std::move(one)); }
    std::vector<box> boxes;
    hpx::serialization::serialize_buffer<double> heights{2};

private:
    friend class hpx::serialization::access;
    template <class Archive>
    void save(Archive& ar, unsigned int const) const {
        ar << boxes << heights;
    }
    template <class Archive>
    void load(Archive& ar, unsigned int const) {
        ar >> boxes >> heights;
    }
    HPX_SERIALIZATION_SPLIT_MEMBER()
};

struct point {
    double x = 0;
    double y = 0;
};
template <class Archive>
void serialize(Archive& ar, point& p, unsigned int) {
    ar& p.x;
    ar& p.y;
}

}  // namespace shapes

shapes::pile add_box(shapes::pile to, shapes::box const& one, shapes::point at) {
    to.add(one);
    to.heights[1] = at.x + at.y;
    return to;
}
HPX_PLAIN_ACTION(add_box, add_box_action)

void check_serialization() {
    for (hpx::id_type const& each : hpx::find_all_localities()) {
        shapes::pile pile;
        pile.add(shapes::box(1, "first"));
        pile = add_box_action()(each, pile, shapes::box(2, "second"), shapes::point{0.5, 0.25});
        HPX_TEST_EQ(pile.boxes.size(), std::size_t(2));
        HPX_TEST(pile.boxes.at(0) == shapes::box(1, "first"));
        HPX_TEST(pile.boxes.at(1) == shapes::box(2, "second"));
        HPX_TEST_EQ(pile.heights.size(), std::size_t(2));
        HPX_TEST_EQ(pile.heights[1], 0.75);
    }
}
