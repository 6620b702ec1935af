// SPDX-License-Identifier: BSL-1.0
// docs/dependences.md shows what mistakes with dependent tasks say. To correct the page, copy the
// table that the failure prints.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::block;
using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::reduction;

struct mistake {
    const char* what;
    std::function<void()> make;
};

/// As a row shows it.
std::string words_of(const std::exception& error, const char* type) {
    return std::string(error.what()) + " (`" + type + "`)";
}

/// In a task.
std::string message_of(const mistake& each) {
    return quern::async([&each]() -> std::string {
               try {
                   each.make();
               } catch (const std::invalid_argument& error) {
                   return words_of(error, "invalid_argument");
               } catch (const std::logic_error& error) {
                   return words_of(error, "logic_error");
               }
               return "nothing";
           })
        .get();
}

void in_other_task(const std::function<void()>& f) { quern::async(f).get(); }

/// Within a dependent task, whose error it throws.
template <class F>
void in_dependent_task(F f) {
    domain work;
    int x = 0;
    work.spawn(inout(x), [&f](int& v) { f(v); });
    work.taskwait();
}

class limit_for_renaming {
public:
    explicit limit_for_renaming(unsigned bytes)
        : m_before(quern::current_pool().knob("renaming-bytes")) {
        quern::current_pool().set_knob("renaming-bytes", bytes);
    }
    ~limit_for_renaming() { quern::current_pool().set_knob("renaming-bytes", m_before); }
    limit_for_renaming(const limit_for_renaming&) = delete;
    limit_for_renaming& operator=(const limit_for_renaming&) = delete;

private:
    unsigned m_before;
};

constexpr auto k_nothing = [] {};
double* const k_null = nullptr;
constexpr std::ptrdiff_t k_huge = std::numeric_limits<std::ptrdiff_t>::max();

/// Regions.
std::vector<mistake> mistakes_in_regions() {
    static std::array<double, 100> a{};
    double* const p = a.data();
    return {
        {"`in(p, 10)`, p null", [] { static_cast<void>(in(k_null, 10)); }},
        {"`in(p, -1)`", [p] { static_cast<void>(in(p, -1)); }},
        {"`in(p, n)`, n more than memory", [p] { static_cast<void>(in(p, k_huge)); }},
        {"`block(p, 10, 2, 3)`, p null", [] { static_cast<void>(block(k_null, 10, 2, 3)); }},
        {"`block(p, 10, 2, -3)`", [p] { static_cast<void>(block(p, 10, 2, -3)); }},
        {"`block(p, 4, 2, 5)`: the pitch is smaller than a row",
         [p] { static_cast<void>(block(p, 4, 2, 5)); }},
        {"`block(p, n, 2, 5)`, n more than memory",
         [p] { static_cast<void>(block(p, k_huge, 2, 5)); }},
        {"`tiles<double>(0, 9, 4, 4)`", [] { quern::tiles<double>(0, 9, 4, 4); }},
        {"`tiles<double>(9, 9, 4, -4)`", [] { quern::tiles<double>(9, 9, 4, -4); }},
        {"`tiles_view<double>(p, 8, 9, 9, 4, 4)`: the leading dimension is smaller than a column",
         [p] { quern::tiles_view<double>(p, 8, 9, 9, 4, 4); }},
    };
}

/// Tasks.
std::vector<mistake> mistakes_of_creators() {
    static int x = 0;
    return {
        {"one object, two operators",
         [] {
             domain work;
             work.spawn(reduction(x, std::plus<>()), reduction(x, std::multiplies<>()), k_nothing);
         }},
        {"a reduction, and another access to a part of it",
         [] {
             domain work;
             work.spawn(in(x), reduction(x, std::plus<>()), k_nothing);
         }},
        {"`work.spawn` by a task that did not make `work`",
         [] {
             domain work;
             in_other_task([&work] { work.spawn(in(x), k_nothing); });
         }},
        {"`work.spawn` in a forked child of the task that made `work`",
         [] {
             domain work;
             quern::fork_join([&work] { work.spawn(in(x), k_nothing); }, [] {});
         }},
        {"`work.spawn` in a loop of the task that made `work`",
         [] {
             domain work;
             quern::parallel_for(0, 100, [&work](int i) {
                 if (i == 50) {
                     work.spawn(in(x), k_nothing);
                 }
             });
         }},
        {"`work.taskwait` by a task that did not make `work`",
         [] {
             domain work;
             in_other_task([&work] { work.taskwait(); });
         }},
        {"`quern::spawn` in no dependent task", [] { quern::spawn(in(x), k_nothing); }},
        {"`quern::taskwait` in no dependent task", [] { quern::taskwait(); }},
        {"`this_task::hold_accesses` in no dependent task",
         [] { auto hold = quern::this_task::hold_accesses(); }},
        {"`this_task::release(in(v))` of an `inout(v)`",
         [] { in_dependent_task([](int& v) { quern::this_task::release(in(v)); }); }},
        {"`.how = launch::fork`",
         [] {
             domain work;
             work.spawn({.how = quern::launch::fork}, in(x), k_nothing);
         }},
        {"`.stop` of a stop source",
         [] {
             domain work;
             const std::stop_source source;
             work.spawn({.stop = source.get_token()}, in(x), k_nothing);
         }},
        {"`.final` in `quern::async`", [] { quern::async({.final = true}, k_nothing).get(); }},
    };
}

std::vector<mistake> mistakes_in_loops() {
    const auto loop = [](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t grain) {
        domain work;
        std::vector<int> v(10);
        quern::task_loop(
            work, first, last, grain, [&v](auto, auto) { return inout(v); }, [](auto, auto) {});
    };
    return {
        {"`task_loop(work, 9, 4, …)`", [loop] { loop(9, 4, 1); }},
        {"`task_loop(work, 0, 9, -1, …)`", [loop] { loop(0, 9, -1); }},
        {"`replay(work, -1, …)`",
         [] {
             domain work;
             quern::replay(work, -1, [](std::int64_t) {});
         }},
        {"`replay` in a `replay`",
         [] {
             domain work;
             quern::replay(work, 1,
                           [&work](std::int64_t) { quern::replay(work, 1, [](std::int64_t) {}); });
         }},
    };
}

std::vector<mistake> mistakes_with_renamed() {
    return {
        {"`renaming-bytes` below one version",
         [] {
             const limit_for_renaming small(1000);
             std::vector<double> v(1000);
             domain work;
             quern::renamed r(v);
             work.spawn(out(r), k_nothing);
         }},
        {"`work.spawn(in(r), out(r), f)`",
         [] {
             std::vector<double> v(10);
             domain work;
             quern::renamed r(v);
             work.spawn(in(r), out(r), k_nothing);
         }},
        {"`in(r)` by a task that did not make `r`",
         [] {
             std::vector<double> v(10);
             quern::renamed r(v);
             in_other_task([&r] { static_cast<void>(in(r)); });
         }},
        {"`r` in two domains",
         [] {
             std::vector<double> v(10);
             domain work, other;
             quern::renamed r(v);
             work.spawn(out(r), k_nothing);
             other.spawn(in(r), k_nothing);
         }},
        {"`r.value()` before `taskwait`",
         [] {
             std::vector<double> v(10);
             domain work;
             quern::renamed r(v);
             work.spawn(out(r), k_nothing);
             static_cast<void>(r.value());
         }},
        {"another size of a container before `taskwait`",
         [] {
             std::vector<double> v(10);
             domain work;
             quern::renamed r(v);
             work.spawn(out(r), k_nothing);
             work.taskwait(quern::on(r));
             v.resize(1000);
             work.spawn(in(r), k_nothing);
         }},
    };
}

std::vector<mistake> mistakes_in_settings() {
    return {
        {"`QUERN_LIVE_TASKS=0`",
         [] { quern::set_setting("live-tasks", "0", "environment QUERN_LIVE_TASKS"); }},
        {"`QUERN_RENAMING_BYTES=64MB`",
         [] { quern::set_setting("renaming-bytes", "64MB", "environment QUERN_RENAMING_BYTES"); }},
    };
}

std::string table_of_mistakes() {
    std::string table = "| mistake | message |\n|---|---|\n";
    for (const auto& list : {mistakes_in_regions(), mistakes_of_creators(), mistakes_in_loops(),
                             mistakes_with_renamed(), mistakes_in_settings()}) {
        for (const mistake& each : list) {
            table += std::string("| ") + each.what + " | " + message_of(each) + " |\n";
        }
    }
    return table;
}

// Holds: domain: dependences.md shows the mistakes with their messages as they are.
TEST(dependences_page, shows_the_mistakes) {
    std::ostringstream page;
    page << std::ifstream(DEPENDENCES_PAGE).rdbuf();
    const std::string table = table_of_mistakes();
    EXPECT_NE(page.str().find("\n" + table + "\n"), std::string::npos) << table;
}

}  // namespace
