// SPDX-License-Identifier: BSL-1.0
// The table of MPI's functions that wait: how each is called on two ranks of which one comes late.
// Every entry is compiled twice, as a call of MPI_X and as one of PMPI_X, so that both can be
// compared. One entry is one function; calls_covered_test.cpp finds functions without an entry.
#pragma once

#include <quern/base/detail/config.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern_test {

inline constexpr int k_few = 8;          ///< ints of a small message
inline constexpr int k_many = 1 << 15;   ///< ints of one that waits for its receiver
inline constexpr int k_untouched = -77;  ///< in what no call has written

/// The arguments and results of one rank's part of a call. Rank 0 and 1 of `comm`.
struct call_frame {
    MPI_Comm comm = MPI_COMM_NULL;   ///< errors are returned
    MPI_Comm graph = MPI_COMM_NULL;  ///< both ranks are neighbours of both
    int rank = 0;
    int peer = 1;
    int early = 0;  ///< the rank that calls first, and waits
    int late = 1;
    std::vector<int> sent;
    std::vector<int> received;
    int code = k_untouched;
    MPI_Status status{};
    std::array<MPI_Status, 2> statuses{};
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::vector<int> noted;  ///< anything else that the call has given
    std::vector<char> attached;
    MPI_Comm made = MPI_COMM_NULL;

    int* in() { return sent.data(); }
    int* out() { return received.data(); }
    void note(int value) { noted.push_back(value); }
};

/// What is compared. Codes are compared by class: the rest of a code says which call it was.
struct call_outcome {
    int error_class = 0;
    std::vector<int> received;
    std::vector<int> statuses;  ///< of each: source, tag, ints, cancelled
    std::vector<int> noted;
    bool operator==(const call_outcome&) const = default;
};
std::ostream& operator<<(std::ostream& out, const call_outcome& one);

call_frame make_frame(MPI_Comm comm, MPI_Comm graph, int early);
call_outcome outcome_of(const call_frame& frame);

/// Which rank must wait when it comes first.
enum class waits { either, rank_0, rank_1, neither };

using call_part = void (*)(call_frame&);

struct call_entry {
    std::string name;
    std::string variant{};  ///< of several entries for one function
    waits who = waits::either;
    call_part prepare = nullptr;  ///< on both ranks, before either calls; may not wait
    call_part early = nullptr;
    call_part early_plain = nullptr;
    call_part late = nullptr;
    call_part late_plain = nullptr;
    call_part finish = nullptr;  ///< on both ranks, when both have called

    bool must_wait(int early_rank) const {
        return who == waits::either || (who == waits::rank_0 && early_rank == 0) ||
               (who == waits::rank_1 && early_rank == 1);
    }
};
std::ostream& operator<<(std::ostream& out, const call_entry& one);

/// Both ranks do the same. `Body` is a lambda `[]<bool Plain>(call_frame& f) {…}`; in it
/// QUERN_CALL(Recv)(…) is the call.
template <class Body>
call_entry same_call(std::string name, Body, waits who = waits::either) {
    const call_part through = [](call_frame& f) { Body{}.template operator()<false>(f); };
    const call_part plain = [](call_frame& f) { Body{}.template operator()<true>(f); };
    return {.name = "MPI_" + std::move(name),
            .variant = {},
            .who = who,
            .early = through,
            .early_plain = plain,
            .late = through,
            .late_plain = plain};
}

/// The early rank calls, the late one answers.
template <class Early>
call_entry call_and_answer(std::string name, std::string variant, Early, call_part answer,
                           waits who = waits::either) {
    call_entry entry = same_call(std::move(name), Early{}, who);
    entry.variant = std::move(variant);
    entry.late = answer;
    entry.late_plain = answer;
    return entry;
}

#define QUERN_CALL(NAME) (Plain ? PMPI_##NAME : MPI_##NAME)

/// Counts of two ranks, and where their parts begin: `unit` apart.
template <class Count, class Displacement>
struct call_layout {
    std::array<Count, 2> counts{};
    std::array<Displacement, 2> at{};
    std::array<MPI_Datatype, 2> types{MPI_INT, MPI_INT};
};

void add_point_to_point(std::vector<call_entry>& to);
void add_waits(std::vector<call_entry>& to);
void add_collectives(std::vector<call_entry>& to);
/// MPI 4's functions with large counts; none where the library has none.
void add_large(std::vector<call_entry>& to);

const std::vector<call_entry>& call_table();

}  // namespace quern_test
