// SPDX-License-Identifier: BSL-1.0
// MPI's files: a call in a task suspends it, keeps nothing back, and reads, writes and reports as
// the blocking function does.
#include "world.hpp"

#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <functional>
#include <string>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

constexpr int k_ints = 1000;
using numbers = std::array<int, k_ints>;

/// The same on both ranks; rank 0 removes it at the end.
class shared_file {
public:
    explicit shared_file(MPI_Comm comm) : m_comm(comm) {
        int process = ::getpid();
        MPI_Bcast(&process, 1, MPI_INT, 0, comm);
        m_path = testing::TempDir() + "quern_files_" + std::to_string(process);
        MPI_File_open(comm, m_path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &m_file);
    }
    shared_file(const shared_file&) = delete;
    shared_file& operator=(const shared_file&) = delete;
    ~shared_file() {
        MPI_File_close(&m_file);
        if (this_world().rank == 0) {
            ::unlink(m_path.c_str());
        }
        MPI_Barrier(m_comm);
    }
    operator MPI_File() const noexcept { return m_file; }

private:
    MPI_Comm m_comm;
    std::string m_path{};
    MPI_File m_file = MPI_FILE_NULL;
};

numbers numbered_from(int first) {
    numbers made;
    for (int i = 0; i < k_ints; ++i) {
        made[static_cast<std::size_t>(i)] = first + i;
    }
    return made;
}

MPI_Offset own_place() { return MPI_Offset{this_world().rank} * static_cast<int>(sizeof(numbers)); }

using transfer = std::function<int(MPI_File, numbers&, MPI_Status*)>;

struct pair_of_calls {
    const char* name;
    transfer write;
    transfer read;
    bool is_shared_place = false;  ///< which rank's part comes first is not known
};

const pair_of_calls k_pairs[] = {
    {"at",
     [](MPI_File f, numbers& n, MPI_Status* s) {
         return MPI_File_write_at(f, own_place(), n.data(), k_ints, MPI_INT, s);
     },
     [](MPI_File f, numbers& n, MPI_Status* s) {
         return MPI_File_read_at(f, own_place(), n.data(), k_ints, MPI_INT, s);
     }},
    {"at_all",
     [](MPI_File f, numbers& n, MPI_Status* s) {
         return MPI_File_write_at_all(f, own_place(), n.data(), k_ints, MPI_INT, s);
     },
     [](MPI_File f, numbers& n, MPI_Status* s) {
         return MPI_File_read_at_all(f, own_place(), n.data(), k_ints, MPI_INT, s);
     }},
    {"own place",
     [](MPI_File f, numbers& n, MPI_Status* s) {
         MPI_File_seek(f, own_place(), MPI_SEEK_SET);
         return MPI_File_write(f, n.data(), k_ints, MPI_INT, s);
     },
     [](MPI_File f, numbers& n, MPI_Status* s) {
         MPI_File_seek(f, own_place(), MPI_SEEK_SET);
         return MPI_File_read(f, n.data(), k_ints, MPI_INT, s);
     }},
    {"all",
     [](MPI_File f, numbers& n, MPI_Status* s) {
         MPI_File_seek(f, own_place(), MPI_SEEK_SET);
         return MPI_File_write_all(f, n.data(), k_ints, MPI_INT, s);
     },
     [](MPI_File f, numbers& n, MPI_Status* s) {
         MPI_File_seek(f, own_place(), MPI_SEEK_SET);
         return MPI_File_read_all(f, n.data(), k_ints, MPI_INT, s);
     }},
    {"shared",
     [](MPI_File f, numbers& n, MPI_Status* s) {
         return MPI_File_write_shared(f, n.data(), k_ints, MPI_INT, s);
     },
     [](MPI_File f, numbers& n, MPI_Status* s) {
         MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
         MPI_File_sync(f);
         return MPI_File_read_shared(f, n.data(), k_ints, MPI_INT, s);
     },
     true}};

int ints_of(const MPI_Status& status) {
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    return count;
}

class mpi_files : public testing::TestWithParam<unsigned> {
protected:
    /// In a task; without tasks outside of any runtime.
    int call(const transfer& how, MPI_File file, numbers& data, MPI_Status& status) {
        if (GetParam() == 0) {
            return how(file, data, &status);
        }
        const quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
        return quern::async(rt, [&] { return how(file, data, &status); }).get();
    }

    own_comm comm;
};

INSTANTIATE_TEST_SUITE_P(on, mpi_files, testing::Values(0U, 1U, 2U));

TEST_P(mpi_files, what_was_written_is_read) {
    for (const pair_of_calls& each : k_pairs) {
        SCOPED_TRACE(each.name);
        const shared_file file(comm);
        numbers sent = numbered_from(1000 * this_world().rank);
        MPI_Status status;
        EXPECT_EQ(call(each.write, file, sent, status), MPI_SUCCESS);
        EXPECT_EQ(ints_of(status), k_ints);
        MPI_File_sync(file);
        MPI_Barrier(comm);
        numbers got{};
        EXPECT_EQ(call(each.read, file, got, status), MPI_SUCCESS);
        EXPECT_EQ(ints_of(status), k_ints);
        if (each.is_shared_place) {
            EXPECT_EQ(got, numbered_from(got[0]));
        } else {
            EXPECT_EQ(got, sent);
        }
    }
}

/// The twin would have to convert before the data have come.
TEST_P(mpi_files, another_representation_is_converted) {
    const shared_file file(comm);
    if (MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL) != MPI_SUCCESS) {
        GTEST_SKIP() << "this library knows no external32";
    }
    numbers sent = numbered_from(1000 * this_world().rank);
    MPI_Status status;
    const MPI_Offset at = MPI_Offset{this_world().rank} * k_ints;
    const transfer write = [at](MPI_File f, numbers& n, MPI_Status* s) {
        return MPI_File_write_at_all(f, at, n.data(), k_ints, MPI_INT, s);
    };
    const transfer read = [at](MPI_File f, numbers& n, MPI_Status* s) {
        return MPI_File_read_at_all(f, at, n.data(), k_ints, MPI_INT, s);
    };
    EXPECT_EQ(call(write, file, sent, status), MPI_SUCCESS);
    MPI_File_sync(file);
    MPI_Barrier(comm);
    numbers got{};
    EXPECT_EQ(call(read, file, got, status), MPI_SUCCESS);
    EXPECT_EQ(got, sent);
}

/// By the error handler of the file, not by that of MPI_COMM_WORLD, which ends the job.
TEST_P(mpi_files, an_error_is_returned) {
    MPI_File file = MPI_FILE_NULL;
    const std::string path = testing::TempDir() + "quern_files_own_" + std::to_string(::getpid());
    MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    numbers data{};
    MPI_Status status;
    EXPECT_NE(call(k_pairs[0].read, file, data, status), MPI_SUCCESS);
    MPI_File_close(&file);
    ::unlink(path.c_str());
}

int g_errors_of_file = 0;
void count_error(MPI_File*, int*, ...) { ++g_errors_of_file; }

/// Also if the non-blocking function only returns the error.
TEST_P(mpi_files, an_error_reaches_the_handler_of_the_file_once) {
    MPI_File file = MPI_FILE_NULL;
    const std::string path = testing::TempDir() + "quern_files_own_" + std::to_string(::getpid());
    MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    MPI_Errhandler counts = MPI_ERRHANDLER_NULL;
    MPI_File_create_errhandler(count_error, &counts);
    MPI_File_set_errhandler(file, counts);
    MPI_Errhandler_free(&counts);
    for (const pair_of_calls& each : k_pairs) {
        if (each.is_shared_place) {
            continue;
        }
        SCOPED_TRACE(each.name);
        g_errors_of_file = 0;
        numbers data{};
        MPI_Status status;
        EXPECT_NE(call(each.read, file, data, status), MPI_SUCCESS);
        EXPECT_EQ(g_errors_of_file, 1);
        EXPECT_EQ(call(each.write, file, data, status), MPI_SUCCESS);
        EXPECT_EQ(g_errors_of_file, 1);
    }
    MPI_File_close(&file);
    ::unlink(path.c_str());
}

using request_maker = int (*)(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Request*);

/// Of MPICH 4.0, MPI_Testall fails an assertion when several of these have ended, and collective
/// ones must be furthered in their order.
TEST_P(mpi_files, several_requests_are_waited_for) {
    const shared_file file(comm);
    static constexpr int k_parts = 8;
    static constexpr int k_part = k_ints / k_parts;
    const request_maker makers[] = {MPI_File_iwrite_at, MPI_File_iwrite_at_all};
    for (int repeated = 0; repeated < 6; ++repeated) {
        const request_maker begin = makers[repeated % 2];
        const transfer write = [begin](MPI_File f, numbers& n, MPI_Status* s) {
            std::array<MPI_Request, k_parts + 1> requests;
            std::array<MPI_Status, k_parts + 1> statuses;
            for (int i = 0; i < k_parts; ++i) {
                begin(f, own_place() + i * k_part * static_cast<int>(sizeof(int)),
                      &n[static_cast<std::size_t>(i * k_part)], k_part, MPI_INT,
                      &requests[static_cast<std::size_t>(i)]);
            }
            requests.back() = MPI_REQUEST_NULL;
            const int code = MPI_Waitall(k_parts + 1, requests.data(), statuses.data());
            for (int i = 0; i < k_parts; ++i) {
                EXPECT_EQ(requests[static_cast<std::size_t>(i)], MPI_REQUEST_NULL);
                EXPECT_EQ(ints_of(statuses[static_cast<std::size_t>(i)]), k_part);
            }
            EXPECT_EQ(ints_of(statuses.back()), 0);
            *s = statuses[0];
            return code;
        };
        numbers sent = numbered_from(1000 * this_world().rank + repeated);
        MPI_Status status;
        EXPECT_EQ(call(write, file, sent, status), MPI_SUCCESS);
        MPI_File_sync(file);
        MPI_Barrier(comm);
        numbers got{};
        EXPECT_EQ(call(k_pairs[0].read, file, got, status), MPI_SUCCESS);
        EXPECT_EQ(got, sent);
        MPI_Barrier(comm);
    }
}

/// Rank 1 writes after a message that another task of rank 0 sends while the first one writes.
TEST_P(mpi_files, a_collective_call_keeps_no_message_back) {
    if (GetParam() == 0) {
        GTEST_SKIP() << "one thread calls one function at a time";
    }
    const shared_file file(comm);
    numbers data = numbered_from(0);
    testing::internal::CaptureStderr();
    {
        const quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
        auto writes = quern::async(rt, [&] {
            int token = 0;
            if (this_world().rank == 1) {
                MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            MPI_File_write_at_all(file, own_place(), data.data(), k_ints, MPI_INT,
                                  MPI_STATUS_IGNORE);
        });
        if (this_world().rank == 0) {
            quern::async(rt, [] {
                const int token = 1;
                MPI_Send(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
            }).get();
        }
        writes.get();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
