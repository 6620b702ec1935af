// SPDX-License-Identifier: BSL-1.0
// The table of functions that have no non-blocking twin and may wait for other ranks: how each is
// called on two ranks, of which one comes late. threads_test.cpp finds functions without an entry.
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace quern_test {

/// What the parts of a call share on one rank.
struct blocking_frame {
    MPI_Comm comm = MPI_COMM_NULL;  ///< of the two ranks, and of nothing else
    int rank = 0;
    std::string path{};  ///< of a file, the same on both ranks
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Group group = MPI_GROUP_NULL;  ///< the other rank
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<int, 64> memory{};
    std::array<int, 8> data{};
    std::array<char, 1024> attached{};
    int code = MPI_SUCCESS;
};

using blocking_part = void (*)(blocking_frame&);

struct blocking_entry {
    std::string_view name;  ///< without "MPI_"
    blocking_part call;
    blocking_part before = nullptr;  ///< on both ranks, when neither has called
    blocking_part after = nullptr;   ///< when both have
};

/// An empty info, freed at the end of its scope.
class empty_info {
public:
    empty_info() { MPI_Info_create(&m_info); }
    empty_info(const empty_info&) = delete;
    empty_info& operator=(const empty_info&) = delete;
    ~empty_info() { MPI_Info_free(&m_info); }
    operator MPI_Info() const noexcept { return m_info; }

private:
    MPI_Info m_info = MPI_INFO_NULL;
};

const std::vector<blocking_entry>& blocking_table();

/// Functions for which two ranks of one job are not enough, or that need a server of names.
const std::vector<std::string_view>& blocking_left_out();

}  // namespace quern_test
