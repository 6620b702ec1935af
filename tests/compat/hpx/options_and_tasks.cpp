// SPDX-License-Identifier: BSL-1.0
// Options of many kinds; a runtime that is started beside main and stopped; task groups and blocks;
// guards.
#include <hpx/hpx_start.hpp>
#include <hpx/modules/lcos_local.hpp>
#include <hpx/modules/testing.hpp>
#include <hpx/program_options.hpp>
#include <hpx/runtime.hpp>
#include <hpx/task_block.hpp>

#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace po = hpx::program_options;

void options() {
    po::options_description desc("Usage: a program [options]");
    std::string name;
    desc.add_options()("name,n", po::value<std::string>(&name)->default_value("nobody"), "a name")(
        "size,s", po::value<std::size_t>()->required(), "a number")(
        "verbose,v", po::bool_switch(), "say more")("quiet", "say less")(
        "level", po::value<int>()->implicit_value(5), "with a value that may be left out")(
        "files", po::value<std::vector<std::string>>()->multitoken(), "several");
    po::positional_options_description alone;
    alone.add("files", -1);

    char const* const words[] = {"a program", "-n", "ada",   "--size=3",
                                 "--level",   "-v", "a.txt", "b.txt"};
    po::variables_map vm;
    po::store(po::command_line_parser(8, words).options(desc).positional(alone).run(), vm);
    po::notify(vm);
    HPX_TEST_EQ(name, "ada");
    HPX_TEST_EQ(vm["size"].as<std::size_t>(), std::size_t(3));
    HPX_TEST_EQ(vm["level"].as<int>(), 5);
    HPX_TEST(vm["verbose"].as<bool>() && vm.count("quiet") == 0);
    HPX_TEST_EQ(vm["files"].as<std::vector<std::string>>().size(), std::size_t(2));

    auto const parse = [&](std::vector<std::string> args) {
        po::variables_map other;
        po::store(po::command_line_parser(std::move(args)).options(desc).run(), other);
        po::notify(other);
    };
    HPX_TEST_THROW(parse({"--siez=3"}), po::unknown_option);
    HPX_TEST_THROW(parse({"--size=many"}), po::invalid_option_value);
    HPX_TEST_THROW(parse({"--size"}), po::error);
    HPX_TEST_THROW(parse({}), po::required_option);
    HPX_TEST_NO_THROW(parse({"-s", "1"}));

    po::parsed_options const rest =
        po::command_line_parser({"--unknown=1", "-s2"}).options(desc).allow_unregistered().run();
    HPX_TEST_EQ(po::collect_unrecognized(rest.options, po::include_positional).size(),
                std::size_t(1));
}

long tree(int depth) {
    if (depth == 0) {
        return 1;
    }
    long left = 0, right = 0;
    hpx::experimental::define_task_block(hpx::execution::par, [&](auto& block) {
        block.run([&] { left = tree(depth - 1); });
        right = tree(depth - 1);
    });
    return left + right;
}

void groups_and_guards() {
    HPX_TEST_EQ(tree(8), 256);

    std::atomic<int> count{0};
    hpx::experimental::task_group group;
    for (int i = 0; i != 50; ++i) {
        group.run([&count](int n) { count += n; }, 2);
    }
    group.wait();
    HPX_TEST_EQ(count.load(), 100);

    auto left = std::make_shared<hpx::lcos::local::guard>();
    auto right = std::make_shared<hpx::lcos::local::guard>();
    hpx::lcos::local::guard_set both;
    both.add(left);
    both.add(right);
    int a = 0, b = 0;  // guarded
    std::vector<hpx::future<void>> ends;
    for (int i = 0; i != 50; ++i) {
        ends.push_back(hpx::lcos::local::run_guarded(*left, [&a] { ++a; }));
        ends.push_back(hpx::lcos::local::run_guarded(*right, [&b] { ++b; }));
        ends.push_back(hpx::lcos::local::run_guarded(both, [&a, &b] {
            ++a;
            ++b;
        }));
    }
    hpx::wait_all(ends);
    HPX_TEST_EQ(a, 100);
    HPX_TEST_EQ(b, 100);
}

int hpx_main(int argc, char** argv) {
    HPX_TEST_EQ(argc, 2);
    HPX_TEST_EQ(std::string(argv[1]), "--own");
    options();
    groups_and_guards();
    hpx::finalize();
    return 7;
}

int main(int argc, char* argv[]) {
    std::string own = "--own";
    std::vector<char*> words(argv, argv + argc);
    words.push_back(own.data());
    words.push_back(nullptr);
    HPX_TEST(hpx::start(argc + 1, words.data()));
    // Threads of the operating system may use the runtime too.
    HPX_TEST_EQ(hpx::async([] { return 6; }).get(), 6);
    HPX_TEST_EQ(hpx::stop(), 7);

    // Again, without hpx_main: until finalize() is called.
    HPX_TEST(hpx::start(nullptr, argc, argv));
    hpx::post([] { hpx::finalize(); });
    HPX_TEST_EQ(hpx::stop(), 0);
    return hpx::util::report_errors();
}
