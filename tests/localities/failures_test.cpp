// SPDX-License-Identifier: BSL-1.0
// Exceptions of called functions, and of the functions by which values are written and read.
#include "on_job.hpp"

#include <quern/task/exceptions.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern_test {

struct cell_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Its function for serialisation throws when it is written, or when it is read.
class fragile {
public:
    static constexpr int k_throws_when_written = 1;
    static constexpr int k_throws_when_read = 2;

    fragile() = default;
    explicit fragile(int how) : m_how(how) {}
    int how() const { return m_how; }

    template <class Archive>
    void serialize(Archive& archive) {
        if (!Archive::is_loading::value && m_how == k_throws_when_written) {
            throw std::domain_error("cannot be written");
        }
        archive(m_how);
        if (Archive::is_loading::value && m_how == k_throws_when_read) {
            throw std::domain_error("cannot be read");
        }
    }

private:
    int m_how = 0;
};

}  // namespace quern_test

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::count;
using quern::localities::error_report;
using quern::localities::here;
using quern::localities::post_to;
using quern::localities::remote_error;
using quern::localities::run_at;

class localities_failures : public on_job {};

/// Of the remote_error that the future gives.
template <class T>
error_report report_of(quern::future<T> call) {
    try {
        call.get();
        ADD_FAILURE() << "no exception";
    } catch (const remote_error& error) {
        return error.report();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another exception: " << error.what();
    }
    return {};
}

void expect_report(const error_report& found, int locality, const std::string& type,
                   const std::string& message) {
    EXPECT_EQ(found.locality, locality);
    EXPECT_EQ(found.type, type);
    EXPECT_EQ(found.message, message);
}

[[noreturn]] int fails(int number) {
    throw std::invalid_argument("no such cell: " + std::to_string(number));
}

// Holds: run_at: What the function throws arrives as a remote_error, at the caller's own locality
// too.
TEST_P(localities_failures, exceptions_of_the_function_arrive_as_reports) {
    for (const int each : all()) {
        expect_report(report_of(run_at(each, &fails, 7)), each, "std::invalid_argument",
                      "no such cell: 7");
        expect_report(report_of(run_at(each, [] { throw cell_error("lost"); })), each,
                      "quern_test::cell_error", "lost");
        expect_report(report_of(run_at(each, [] { throw 7; })), each, "int", "");
    }
}

// Holds: remote_error: what() names the locality, the type and the message.
TEST_P(localities_failures, the_words_name_locality_type_and_message) {
    const int where = next_locality();
    try {
        run_at(where, &fails, 3).get();
        ADD_FAILURE() << "no exception";
    } catch (const remote_error& error) {
        EXPECT_EQ(error.what(),
                  "locality " + std::to_string(where) + ": std::invalid_argument: no such cell: 3");
    }
}

int fails_at_depth(int depth) {
    if (depth == 0) {
        fails(here());
    }
    return run_at(next_locality(), &fails_at_depth, depth - 1).get();
}

// Holds: remote_error: One that passes through further calls still names the locality where the
// first exception was thrown, and its type.
TEST_P(localities_failures, an_exception_keeps_its_origin_on_the_way_back) {
    const int where = (here() + 5) % count();
    expect_report(report_of(run_at(next_locality(), &fails_at_depth, 4)), where,
                  "std::invalid_argument", "no such cell: " + std::to_string(where));
}

// Holds: run_at: An error of one call does not affect the other calls of its caller.
TEST_P(localities_failures, many_calls_of_which_some_fail) {
    constexpr int k_calls = 300;
    const auto some_fail = [](int number) { return number % 3 == 0 ? fails(number) : number; };
    std::vector<quern::future<int>> calls;
    for (int i = 0; i < k_calls; ++i) {
        calls.push_back(run_at(i % count(), some_fail, i));
    }
    for (int i = 0; i < k_calls; ++i) {
        auto& call = calls[static_cast<std::size_t>(i)];
        if (i % 3 == 0) {
            expect_report(report_of(std::move(call)), i % count(), "std::invalid_argument",
                          "no such cell: " + std::to_string(i));
        } else {
            EXPECT_EQ(call.get(), i);
        }
    }
}

// Holds: run_at: What an argument throws when it is read arrives as a remote_error, and its large
// arguments hold nothing up.
TEST_P(localities_failures, arguments_that_cannot_be_read_are_reported) {
    const int where = next_locality();
    if (where == here()) {
        return;  // nothing is read
    }
    const std::vector<double> large(200'000, 1.5);
    const fragile bad(fragile::k_throws_when_read);
    const auto first = [](const fragile&, const std::vector<double>&) {};
    const auto last = [](const std::vector<double>&, const fragile&) {};
    for (int i = 0; i < 5; ++i) {
        expect_report(report_of(run_at(
                          where, [](const fragile&) {}, bad)),
                      where, "std::domain_error", "cannot be read");
        expect_report(report_of(run_at(where, first, bad, large)), where, "std::domain_error",
                      "cannot be read");
        expect_report(report_of(run_at(where, last, large, bad)), where, "std::domain_error",
                      "cannot be read");
        EXPECT_EQ(run_at(
                      where, [](const std::vector<double>& of) { return of; }, large)
                      .get(),
                  large);
    }
}

// Holds: run_at: What an argument throws when it is written is thrown by run_at() itself.
TEST_P(localities_failures, arguments_that_cannot_be_written_are_refused_at_once) {
    const int where = next_locality();
    if (where == here()) {
        return;  // nothing is written
    }
    const fragile bad(fragile::k_throws_when_written);
    EXPECT_THROW(run_at(
                     where, [](const fragile&) {}, bad),
                 std::domain_error);
    EXPECT_THROW(post_to(
                     where, [](const fragile&) {}, bad),
                 std::domain_error);
    EXPECT_EQ(run_at(where, &here).get(), where);
}

// Holds: run_at: A result that cannot be written arrives as a remote_error, and one that cannot be
// read as what reading it has thrown.
TEST_P(localities_failures, results_that_cannot_travel_are_errors_of_the_call) {
    const int where = next_locality();
    if (where == here()) {
        return;
    }
    const auto make = [](int how) { return fragile(how); };
    const auto make_large = [](int how) {
        return std::tuple(std::vector<double>(200'000, 2.5), fragile(how));
    };
    for (int i = 0; i < 5; ++i) {
        expect_report(report_of(run_at(where, make, fragile::k_throws_when_written)), where,
                      "std::domain_error", "cannot be written");
        EXPECT_THROW(run_at(where, make, fragile::k_throws_when_read).get(), std::domain_error);
        EXPECT_THROW(run_at(where, make_large, fragile::k_throws_when_read).get(),
                     std::domain_error);
        EXPECT_EQ(std::get<0>(run_at(where, make_large, 0).get()).size(), 200'000U);
    }
}

QUERN_ON_1_2_WORKERS(localities_failures);

std::atomic<int> g_lost{0};
std::atomic<int> g_lost_otherwise{0};

void note_lost(std::exception_ptr error, quern::exception_origin where) noexcept {
    try {
        std::rethrow_exception(error);
    } catch (const std::invalid_argument&) {
        ++(where == quern::exception_origin::posted_task ? g_lost : g_lost_otherwise);
    } catch (...) {
        ++g_lost_otherwise;
    }
}

class localities_lost : public on_workers {};

// Holds: post_to: What the function throws goes to the exception handler of the locality where it
// ran, as that of a task of post().
TEST_P(localities_lost, exceptions_of_posted_calls_go_to_the_handler_there) {
    constexpr int k_calls = 10;
    g_lost = 0;
    g_lost_otherwise = 0;
    const quern::exception_handler before = quern::set_exception_handler(&note_lost);
    own_job job(GetParam());
    for (int i = 0; i < k_calls; ++i) {
        post_to(next_locality(), &fails, i);
    }
    job.end();
    quern::set_exception_handler(before);
    EXPECT_EQ(g_lost, k_calls);
    EXPECT_EQ(g_lost_otherwise, 0);
}

QUERN_ON_1_2_WORKERS(localities_lost);

}  // namespace
