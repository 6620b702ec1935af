// SPDX-License-Identifier: BSL-1.0
// The environment variables QUERN_THREADS, QUERN_POLICY and QUERN_BIND: what good values do, and
// that a bad one is an error that names the variable, its value and what is accepted.
#include <quern/scheduler/runtime.hpp>

#include "on_runtime.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::runtime;
using quern::runtime_options;

class environment_test : public testing::Test {
protected:
    void SetUp() override { clear(); }
    ~environment_test() override { clear(); }

    static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

    static std::string error() {
        try {
            (void)runtime_options::from_environment();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    }

    static void expect_error(const char* name, const std::string& value,
                             const std::vector<std::string>& parts) {
        set(name, value.c_str());
        const std::string text = error();
        EXPECT_NE(text.find(name), std::string::npos) << name << "=" << value << ": " << text;
        EXPECT_NE(text.find(value), std::string::npos) << name << "=" << value << ": " << text;
        for (const std::string& part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << name << "=" << value << ": " << text;
        }
        ::unsetenv(name);
    }

private:
    static void clear() {
        for (const char* name : {"QUERN_THREADS", "QUERN_POLICY", "QUERN_BIND"}) {
            ::unsetenv(name);
        }
    }
};

TEST_F(environment_test, that_says_nothing_leaves_the_defaults) {
    const runtime_options options = runtime_options::from_environment();
    ASSERT_EQ(options.pools.size(), 1U);
    EXPECT_EQ(options.pools.front().workers, 0U);
    EXPECT_EQ(options.pools.front().policy, "work-stealing");
    EXPECT_EQ(options.pools.front().binding, "none");
}

TEST_F(environment_test, chooses_workers_policy_and_binding) {
    set("QUERN_THREADS", "3");
    set("QUERN_POLICY", "priority-local-fifo");
    set("QUERN_BIND", "compact");
    const runtime_options options = runtime_options::from_environment();
    EXPECT_EQ(options.pools.front().workers, 3U);
    EXPECT_EQ(options.pools.front().binding, "compact");
    const runtime rt;
    EXPECT_EQ(rt.workers(), 3U);
    EXPECT_EQ(rt.default_pool().policy(), "priority-local-fifo");
    EXPECT_EQ(quern::async(rt, [] { return 5; }).get(), 5);
}

TEST_F(environment_test, may_bind_to_a_list) {
    set("QUERN_BIND", "0");
    const runtime rt;
    EXPECT_EQ(quern::async(rt, [] { return 5; }).get(), 5);
}

TEST_F(environment_test, is_overruled_by_what_the_program_says) {
    set("QUERN_THREADS", "3");
    const runtime rt(runtime_options::with_workers(2));
    EXPECT_EQ(rt.workers(), 2U);
}

TEST_F(environment_test, refuses_numbers_of_threads_that_are_none) {
    for (const char* value : {"two", "2x", "-1", "+2", " 2", "2 ", "1.5", "0x2", "99999999999"}) {
        expect_error("QUERN_THREADS", value, {"1", "4096"});
    }
    set("QUERN_THREADS", "");
    EXPECT_NE(error().find("QUERN_THREADS"), std::string::npos);
}

TEST_F(environment_test, refuses_numbers_of_threads_out_of_range) {
    expect_error("QUERN_THREADS", "0", {"1", "4096"});
    expect_error("QUERN_THREADS", "4097", {"1", "4096"});
}

TEST_F(environment_test, refuses_unknown_policies) {
    expect_error("QUERN_POLICY", "work-staeling",
                 {"work-stealing", "priority-local-fifo", "did you mean 'work-stealing'?"});
    expect_error("QUERN_POLICY", "elephant", {"work-stealing", "priority-local-fifo"});
}

TEST_F(environment_test, refuses_unknown_bindings) {
    expect_error("QUERN_BIND", "compct", {"compact", "scatter", "did you mean 'compact'?"});
    expect_error("QUERN_BIND", "3-1", {});
}

}  // namespace
