// SPDX-License-Identifier: BSL-1.0
// The environment variables QUERN_*: the effect of good values, and that a bad value or an unknown
// variable is an error that names it, what is accepted and the nearest match.
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>

#include "all_settings.hpp"
#include "on_runtime.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::current_settings;
using quern::runtime;
using quern::runtime_options;

class environment_test : public testing::Test {
protected:
    ~environment_test() override {
        for (const std::string& name : m_set) {
            ::unsetenv(name.c_str());
        }
    }

    void set(const std::string& name, const std::string& value) {
        ::setenv(name.c_str(), value.c_str(), 1);
        m_set.push_back(name);
    }

    static std::string error() {
        try {
            (void)current_settings();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    }

    void expect_error(const std::string& name, const std::string& value,
                      const std::string& message) {
        set(name, value);
        EXPECT_EQ(error(), "quern: " + message);
        ::unsetenv(name.c_str());
    }

private:
    std::vector<std::string> m_set;
};

TEST_F(environment_test, puts_the_rank_into_paths) {
    set("QUERN_CONFIG", "/no/%r/quern.%r.toml");
    const std::vector<const char*> ranks = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (const char* const each : ranks) {
        ::unsetenv(each);
    }
    EXPECT_NE(error().find("/no/0/quern.0.toml"), std::string::npos) << error();
    for (const char* const each : ranks) {
        set(each, "12");
        EXPECT_NE(error().find("/no/12/quern.12.toml"), std::string::npos) << each << error();
        ::unsetenv(each);
    }
}

TEST_F(environment_test, that_says_nothing_leaves_the_defaults) {
    const quern::settings all = current_settings();
    for (const quern::setting& row : quern::setting_table()) {
        EXPECT_EQ(all.at(row.name).text, row.fallback) << row.name;
        EXPECT_EQ(all.at(row.name).origin, "default") << row.name;
    }
}

// Holds: settings: Environment: every setting can be given, with the variable as origin.
TEST_F(environment_test, chooses_workers_policy_and_binding) {
    set("QUERN_THREADS", "3");
    set("QUERN_POLICY", "priority-local-fifo");
    set("QUERN_BIND", "compact");
    EXPECT_EQ(current_settings().at("threads").origin, "environment QUERN_THREADS");
    const runtime rt;
    EXPECT_EQ(rt.workers(), 3U);
    EXPECT_EQ(rt.default_pool().policy(), "priority-local-fifo");
    EXPECT_EQ(quern::async(rt, [] { return 5; }).get(), 5);
}

// Holds: settings: Environment: every setting can...
TEST_F(environment_test, chooses_stack_active_workers_and_spin) {
    set("QUERN_THREADS", "3");
    set("QUERN_STACK", "large");
    set("QUERN_ACTIVE_WORKERS", "2");
    set("QUERN_SPIN_US", "0");
    const runtime rt;
    EXPECT_EQ(rt.default_pool().get().stacks(), quern::stack_class::large);
    EXPECT_EQ(rt.default_pool().active_workers(), 2U);
    EXPECT_EQ(rt.default_pool().get().knobs().spin_us.load(), 0U);
    EXPECT_EQ(quern::async(rt, [] { return 5; }).get(), 5);
}

// Holds: runtime: Binding: each word, or...
TEST_F(environment_test, may_bind_to_a_list) {
    set("QUERN_BIND", "0");
    const runtime rt;
    EXPECT_EQ(quern::async(rt, [] { return 5; }).get(), 5);
}

TEST_F(environment_test, may_name_the_defaults) {
    for (const quern::setting& row : quern::setting_table()) {
        if (!row.fallback.empty()) {
            set(row.variable(), std::string(row.fallback));
        }
    }
    const runtime rt;
    EXPECT_EQ(rt.default_pool().active_workers(), rt.workers());
}

// Holds: settings: Environment: the variables concern the first pool of a runtime.
TEST_F(environment_test, concerns_the_first_pool_of_a_runtime) {
    set("QUERN_THREADS", "3");
    set("QUERN_POLICY", "priority-local-fifo");
    runtime_options two;
    two.pools = {{.name = "first"}, {.name = "second", .workers = 1}};
    const runtime rt(two);
    EXPECT_EQ(rt.pool("first").workers(), 3U);
    EXPECT_EQ(rt.pool("first").policy(), "priority-local-fifo");
    EXPECT_EQ(rt.pool("second").workers(), 1U);
    EXPECT_EQ(rt.pool("second").policy(), "work-stealing");
}

TEST_F(environment_test, concerns_all_pools_where_a_number_is_of_the_process) {
    set("QUERN_WAKE_FANOUT", "5");
    runtime_options two;
    two.pools = {{.name = "first", .workers = 1}, {.name = "second", .workers = 1}};
    const runtime rt(two);
    EXPECT_EQ(rt.pool("first").knob("wake-fanout"), 5U);
    EXPECT_EQ(rt.pool("second").knob("wake-fanout"), 5U);
}

TEST_F(environment_test, decides_what_the_program_leaves_open) {
    set("QUERN_THREADS", "3");
    set("QUERN_POLICY", "priority-local-fifo");
    const runtime rt(runtime_options::with_workers(2));
    EXPECT_EQ(rt.workers(), 2U);
    EXPECT_EQ(rt.default_pool().policy(), "priority-local-fifo");
}

// Holds: runtime: 0 workers means as...
TEST_F(environment_test, is_overruled_by_a_program_that_wants_what_fits_the_machine) {
    const unsigned fitting = runtime().workers();
    set("QUERN_THREADS", std::to_string(fitting + 1));
    EXPECT_EQ(runtime().workers(), fitting + 1);
    EXPECT_EQ(runtime(runtime_options::with_workers(0)).workers(), fitting);
}

// Holds: settings: Environment: a bad value is an error with what is accepted and the nearest
//     match.
TEST_F(environment_test, refuses_numbers_of_threads_that_are_none) {
    for (const char* value :
         {"", "two", "2x", "-1", "+2", " 2", "2 ", "1.5", "0x2", "99999999999", "0", "4097"}) {
        expect_error("QUERN_THREADS", value,
                     "threads is '" + std::string(value) +
                         "' (environment QUERN_THREADS); accepted: a whole number from 1 to 4096, "
                         "or auto");
    }
    expect_error(
        "QUERN_THREADS", "uato",
        "threads is 'uato' (environment QUERN_THREADS); accepted: a whole number from 1 to "
        "4096, or auto; did you mean 'auto'?");
}

// Holds: settings: Environment: a bad value...
TEST_F(environment_test, refuses_unknown_words) {
    expect_error("QUERN_POLICY", "foo",
                 "policy is 'foo' (environment QUERN_POLICY); accepted: work-stealing, "
                 "priority-local-fifo, priority-local-lifo, sherwood, nemesis, static");
    expect_error("QUERN_POLICY", "work-staeling",
                 "policy is 'work-staeling' (environment QUERN_POLICY); accepted: work-stealing, "
                 "priority-local-fifo, priority-local-lifo, sherwood, nemesis, static; did you "
                 "mean 'work-stealing'?");
    expect_error("QUERN_STACK", "lagre",
                 "stack is 'lagre' (environment QUERN_STACK); accepted: small, medium, large; did "
                 "you mean 'large'?");
}

TEST_F(environment_test, accepts_an_empty_path_as_no_file) {
    set("QUERN_CONFIG", "");
    EXPECT_EQ(error(), "");
}

// Holds: settings: Environment: a bad value...
TEST_F(environment_test, refuses_unknown_bindings) {
    const std::string accepted =
        "; accepted: none, compact, scatter, balanced, numa-balanced, a list of CPUs such as "
        "0,2-5, cores:0-3, or node:1";
    expect_error("QUERN_BIND", "", "bind is '' (environment QUERN_BIND)" + accepted);
    expect_error(
        "QUERN_BIND", "compct",
        "bind is 'compct' (environment QUERN_BIND)" + accepted + "; did you mean 'compact'?");
    expect_error("QUERN_BIND", "3-1",
                 "bind is '3-1' (environment QUERN_BIND); binding \"3-1\": \"3-1\" is a range that "
                 "ends before it begins");
}

// Holds: settings: Environment: an unknown QUERN_* is an error; variables of others are left alone.
TEST_F(environment_test, refuses_unknown_variables) {
    std::string accepted;
    for (const quern::setting& row : quern::setting_table()) {
        accepted += (accepted.empty() ? "; accepted: " : ", ") + row.variable();
    }
    expect_error("QUERN_THREAD", "2",
                 "unknown environment variable QUERN_THREAD; did you mean 'QUERN_THREADS'?");
    expect_error("QUERN_SPIN", "3",
                 "unknown environment variable QUERN_SPIN; did you mean 'QUERN_SPIN_US'?");
    expect_error("QUERN_THREADS_PER_CORE", "3",
                 "unknown environment variable QUERN_THREADS_PER_CORE; did you mean "
                 "'QUERN_THREADS'?");
    expect_error(
        "QUERN_elephant", "2",
        "unknown environment variable QUERN_elephant" + accepted + quern_test::k_elsewhere);
    expect_error("QUERN_", "2",
                 "unknown environment variable QUERN_" + accepted + quern_test::k_elsewhere);
}

// Holds: settings: Environment: an unknown QUERN_*...
TEST_F(environment_test, leaves_the_variables_of_others_alone) {
    for (const char* name :
         {"QUERNS_THREADS", "quern_thread", "THREADS", "MY_QUERN_THREAD", "QUERN", "QUERN_DIR",
          "QUERN_ROOT", "QUERN_JOB", "QUERN_MPI_MECHANISM"}) {
        set(name, "elephant");
    }
    EXPECT_EQ(error(), "");
}

std::string error_of(const runtime_options& options) {
    try {
        const runtime rt(options);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

// Holds: settings: A value that cannot be obeyed here is an error with its origin, and why.
TEST_F(environment_test, may_not_ask_for_what_the_machine_has_not) {
    set("QUERN_BIND", "3999");
    const std::string text = error_of({});
    EXPECT_EQ(text.find("quern: bind is '3999' (environment QUERN_BIND); "), 0U) << text;
    EXPECT_NE(text.find("names CPU 3999"), std::string::npos) << text;
}

// Holds: settings: A value that cannot...
TEST_F(environment_test, activates_no_more_workers_than_there_are) {
    set("QUERN_ACTIVE_WORKERS", "3");
    EXPECT_EQ(runtime(runtime_options::with_workers(2)).default_pool().active_workers(), 2U);
    EXPECT_EQ(runtime(runtime_options::with_workers(4)).default_pool().active_workers(), 3U);
}

TEST_F(environment_test, a_program_may_not_activate_more_workers_than_there_are) {
    auto options = runtime_options::with_workers(2);
    options.pools.front().active_workers = 3;
    const std::string text = error_of(options);
    EXPECT_NE(text.find("active-workers is '3'"), std::string::npos) << text;
    EXPECT_NE(text.find("accepted: a whole number from 1 to 2, the workers of pool 'default'"),
              std::string::npos)
        << text;
}

}  // namespace
