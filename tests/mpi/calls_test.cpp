// SPDX-License-Identifier: BSL-1.0
// Each function of the table, called by one rank while its partner is late. The partner begins only
// when another task of the caller's pool, which has one worker, has told it to: so a call that
// blocks its worker never ends. Outcomes are compared with those of PMPI_X without any runtime.
#include "call_table.hpp"
#include "world.hpp"

#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using quern_test::call_entry;
using quern_test::call_frame;
using quern_test::call_outcome;
using quern_test::call_part;

/// Who calls.
enum class caller {
    task,    ///< a task on each rank
    thread,  ///< a thread beside a runtime; the late rank has no runtime
    early,   ///< a task on the early rank; the late rank has no runtime
};

constexpr const char* k_caller_names[] = {"task", "thread", "early"};

/// The communicators of all cases.
class call_comms {
public:
    call_comms() {
        MPI_Comm_dup(MPI_COMM_WORLD, &control);
        MPI_Comm_dup(MPI_COMM_WORLD, &calls);
        MPI_Comm_set_errhandler(calls, MPI_ERRORS_RETURN);
        const int both[] = {0, 1};
        MPI_Dist_graph_create_adjacent(calls, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &graph);
    }
    call_comms(const call_comms&) = delete;
    call_comms& operator=(const call_comms&) = delete;
    ~call_comms() {
        MPI_Comm_free(&graph);
        MPI_Comm_free(&calls);
        MPI_Comm_free(&control);
    }

    MPI_Comm control = MPI_COMM_NULL;
    MPI_Comm calls = MPI_COMM_NULL;
    MPI_Comm graph = MPI_COMM_NULL;
};

class mpi_calls : public testing::TestWithParam<std::tuple<std::size_t, caller>> {
protected:
    static void SetUpTestSuite() { s_comms = new call_comms; }
    static void TearDownTestSuite() {
        delete s_comms;
        s_comms = nullptr;
    }

    const call_entry& entry() const { return quern_test::call_table()[std::get<0>(GetParam())]; }
    caller how() const { return std::get<1>(GetParam()); }

    /// Both ranks around `middle`, which is this rank's part.
    template <class Middle>
    call_outcome run(int early, Middle middle) {
        call_frame frame = quern_test::make_frame(s_comms->calls, s_comms->graph, early);
        do_part(entry().prepare, frame);
        MPI_Barrier(s_comms->control);
        middle(frame);
        MPI_Barrier(s_comms->control);
        do_part(entry().finish, frame);
        return quern_test::outcome_of(frame);
    }

    /// Made once for each entry: all ways to call it are compared with the same outcome.
    const call_outcome& run_plain(int early) {
        static std::map<std::pair<std::size_t, int>, call_outcome> s_known;
        const auto [at, is_new] = s_known.try_emplace({std::get<0>(GetParam()), early});
        if (is_new) {
            at->second = run(early, [&](call_frame& f) {
                (f.rank == f.early ? entry().early_plain : entry().late_plain)(f);
            });
        }
        return at->second;
    }

    call_outcome run_calls(int early) {
        const bool is_early = quern_test::this_world().rank == early;
        const bool has_runtime = is_early || how() == caller::task;
        std::optional<quern::runtime> rt;
        if (has_runtime) {
            rt.emplace(quern::runtime_options::with_workers(1));
        }
        return run(early, [&](call_frame& f) {
            if (is_early) {
                call_first(f, *rt);
            } else {
                call_when_told(f, rt ? &*rt : nullptr);
            }
        });
    }

private:
    static void do_part(call_part part, call_frame& frame) {
        if (part != nullptr) {
            part(frame);
        }
    }

    void call_first(call_frame& f, quern::runtime& rt) {
        std::atomic<bool> has_begun{false};
        std::atomic<bool> has_ended{false};
        auto calls = [&] {
            has_begun = true;
            entry().early(f);
            has_ended = true;
        };
        std::optional<std::thread> beside;
        quern::future<void> task;
        if (how() == caller::thread) {
            beside.emplace(calls);
        } else {
            task = quern::async(rt, calls);
        }
        const bool ended_before = quern::async(rt, [&] {
                                      while (!has_begun) {
                                          quern::this_task::yield();
                                      }
                                      const bool had_ended = has_ended;
                                      MPI_Send(nullptr, 0, MPI_INT, f.peer, 1, s_comms->control);
                                      return had_ended;
                                  }).get();
        if (beside) {
            beside->join();
        } else {
            task.get();
        }
        EXPECT_TRUE(has_ended);
        if (entry().must_wait(f.early)) {
            EXPECT_FALSE(ended_before) << "the call ended before its partner had begun";
        }
    }

    void call_when_told(call_frame& f, quern::runtime* rt) {
        MPI_Recv(nullptr, 0, MPI_INT, f.peer, 1, s_comms->control, MPI_STATUS_IGNORE);
        if (rt != nullptr) {
            quern::async(*rt, [&] { entry().late(f); }).get();
        } else {
            entry().late(f);
        }
    }

    static call_comms* s_comms;
};

call_comms* mpi_calls::s_comms = nullptr;

TEST_P(mpi_calls, does_as_plain_mpi_while_others_run) {
    for (const int early : {0, 1}) {
        SCOPED_TRACE(testing::Message() << entry() << ", rank " << early << " calls first");
        const call_outcome& expected = run_plain(early);
        const call_outcome found = run_calls(early);
        EXPECT_TRUE(found == expected) << "found " << found << "\nexpected " << expected;
    }
}

std::string name_of(const testing::TestParamInfo<mpi_calls::ParamType>& info) {
    const call_entry& entry = quern_test::call_table()[std::get<0>(info.param)];
    std::string name = entry.name.substr(4) + (entry.variant.empty() ? "" : " ") + entry.variant;
    std::erase(name, ',');
    for (char& each : name) {
        each = std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '_';
    }
    return name + "_by_" + k_caller_names[static_cast<int>(std::get<1>(info.param))];
}

/// A message does not depend on whether its other end has a runtime; a collective call might.
std::vector<mpi_calls::ParamType> all_cases() {
    std::vector<mpi_calls::ParamType> cases;
    const std::vector<call_entry>& table = quern_test::call_table();
    for (std::size_t i = 0; i < table.size(); ++i) {
        const bool is_collective = table[i].late == table[i].early;
        cases.emplace_back(i, caller::task);
        cases.emplace_back(i, caller::thread);
        if (is_collective) {
            cases.emplace_back(i, caller::early);
        }
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(each, mpi_calls, testing::ValuesIn(all_cases()), name_of);

}  // namespace
