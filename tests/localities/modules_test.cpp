// SPDX-License-Identifier: BSL-1.0
// Functions of shared libraries: those that all localities have loaded, one that a locality lacks,
// and one that comes too late. QUERN_TEST_MODULE is the path of module.cpp's library.
#include "on_job.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::here;
using quern::localities::remote_error;
using quern::localities::run_at;

using number_function = int (*)(int);

class loaded {
public:
    loaded() : m_handle(::dlopen(QUERN_TEST_MODULE, RTLD_NOW | RTLD_LOCAL)) {}
    loaded(const loaded&) = delete;
    loaded& operator=(const loaded&) = delete;
    ~loaded() {
        if (m_handle != nullptr) {
            ::dlclose(m_handle);
        }
    }
    number_function function() const {
        return reinterpret_cast<number_function>(::dlsym(m_handle, "quern_test_number"));
    }

private:
    void* m_handle;
};

class localities_modules : public on_workers {};

// Holds: run_at: The function may be one of a shared library.
TEST_P(localities_modules, a_function_of_a_library_that_all_have_is_called) {
    const loaded library;
    ASSERT_NE(library.function(), nullptr);
    own_job job(GetParam());
    for (const int each : all()) {
        EXPECT_EQ(run_at(each, library.function(), 7).get(), 1007);
    }
}

// Holds: run_at: The function may be...
TEST_P(localities_modules, a_function_of_the_c_library_is_called) {
    using process_function = pid_t (*)();
    const auto own_id = reinterpret_cast<process_function>(::dlsym(RTLD_DEFAULT, "getpid"));
    ASSERT_NE(own_id, nullptr);
    own_job job(GetParam());
    for (const int each : all()) {
        EXPECT_EQ(run_at(each, own_id).get(), run_at(each, [] { return ::getpid(); }).get());
    }
}

// Holds: run_at: A call of a function in a library that the other locality has not loaded is
// answered by a remote_error that says so.
TEST_P(localities_modules, a_library_that_a_locality_lacks_is_named) {
    const auto library =
        this_world().rank == quern::localities::root ? std::make_unique<loaded>() : nullptr;
    own_job job(GetParam());
    if (here() != quern::localities::root || next_locality() == here()) {
        return;
    }
    try {
        run_at(next_locality(), library->function(), 7).get();
        ADD_FAILURE() << "no exception";
    } catch (const remote_error& error) {
        EXPECT_EQ(error.report().locality, next_locality());
        EXPECT_NE(error.report().message.find("not loaded here"), std::string::npos)
            << error.what();
    }
    EXPECT_EQ(run_at(here(), library->function(), 7).get(), 1007);
}

// Holds: run_at: It throws std::logic_error for a function of a library that was loaded after the
// session had begun, unless the call is for the caller's own locality.
TEST_P(localities_modules, a_library_that_comes_too_late_is_refused) {
    own_job job(GetParam());
    const loaded library;
    EXPECT_EQ(run_at(here(), library.function(), 7).get(), 1007);
    if (next_locality() != here()) {
        EXPECT_THROW(run_at(next_locality(), library.function(), 7), std::logic_error);
        EXPECT_EQ(run_at(next_locality(), &here).get(), next_locality());
    }
}

QUERN_ON_1_2_WORKERS(localities_modules);

}  // namespace
