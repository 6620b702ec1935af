// SPDX-License-Identifier: BSL-1.0
// An accumulator at each locality, used from all others: by a client, by name, and by an id that a
// component gives of itself. The answers are checked.
#include "accumulator.hpp"

#include <hpx/hpx.hpp>
#include <hpx/hpx_init.hpp>
#include <hpx/modules/testing.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Called at all localities with the same accumulator.
void add_up_to(accumulator to, std::int64_t last) {
    std::vector<hpx::future<void>> all;
    for (std::int64_t i = 1; i <= last; ++i) {
        all.push_back(to.add_later(i));
    }
    hpx::wait_all(all);
}
HPX_PLAIN_ACTION(add_up_to, add_up_to_action);

void use_from_all(hpx::id_type const& at) {
    accumulator sum = hpx::new_<accumulator>(at, std::int64_t(1000));
    std::vector<hpx::future<void>> users;
    for (hpx::id_type const& each : hpx::find_all_localities()) {
        users.push_back(hpx::async<add_up_to_action>(each, sum, std::int64_t(10)));
    }
    hpx::wait_all(users);
    auto const localities = static_cast<std::int64_t>(hpx::get_num_localities(hpx::launch::sync));
    HPX_TEST_EQ(sum.query(), 1000 + 55 * localities);
    sum.reset();
    sum.add(-7);
    HPX_TEST_EQ(sum.query_later().get(), -7);
    HPX_TEST(hpx::get_colocation_id(hpx::launch::sync, sum.get_id()) == at);
    auto later = sum.then([](accumulator&& ready) { return ready.query(); });
    HPX_TEST_EQ(later.get(), -7);
}

void use_by_name(hpx::id_type const& at) {
    std::string const name =
        "/accumulator/" + std::to_string(hpx::naming::get_locality_id_from_id(at));
    accumulator const made = hpx::new_<accumulator>(at);
    HPX_TEST(made.register_as(name).get());
    HPX_TEST(!made.register_as(name).get());
    accumulator found;
    found.connect_to(name);
    found.add(3);
    HPX_TEST_EQ(made.query(), 3);
    HPX_TEST(hpx::agas::unregister_name(hpx::launch::sync, name) == made.get_id());
    HPX_TEST(!hpx::agas::resolve_name(hpx::launch::sync, name));
}

void use_by_its_own_id(hpx::id_type const& at) {
    hpx::id_type one = hpx::new_<server::accumulator>(at, std::int64_t(5)).get();
    hpx::id_type const same = server::accumulator::whoami_action()(one);
    HPX_TEST_EQ(same, one);
    one = hpx::id_type();  // the other keeps it
    HPX_TEST_EQ(accumulator(hpx::id_type(same)).query(), 5);
    if (at == hpx::find_here()) {
        HPX_TEST_EQ(hpx::get_ptr<server::accumulator>(hpx::launch::sync, same)->query(), 5);
    }
}

int hpx_main() {
    for (hpx::id_type const& each : hpx::find_all_localities()) {
        use_from_all(each);
        use_by_name(each);
        use_by_its_own_id(each);
    }
    accumulator const here = hpx::local_new<accumulator>(std::int64_t(9));
    HPX_TEST_EQ(here.query(), 9);
    std::vector<hpx::id_type> const several =
        hpx::new_<server::accumulator[]>(hpx::find_root_locality(), 3, std::int64_t(4)).get();
    HPX_TEST_EQ(several.size(), std::size_t(3));
    HPX_TEST_EQ(server::accumulator::query_action()(several[2]), 4);
    return hpx::finalize();
}

int main(int argc, char** argv) {
    int const status = hpx::init(argc, argv);
    return status != 0 ? status : hpx::util::report_errors();
}
