// SPDX-License-Identifier: BSL-1.0
// The duplicates of communicators by key. Of one communicator one task at a time makes duplicates,
// under a suspending lock; a rank other than 0 makes those that rank 0 has announced, in that
// order, until its own is among them.
#include <quern/mpi/keyed.hpp>

#include <quern/mpi/requests.hpp>
#include <quern/sync/mutex.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace quern::mpi {

namespace {

void expect_success(int code) {
    if (code != MPI_SUCCESS) {
        throw error(code);
    }
}

class key_table {
public:
    explicit key_table(MPI_Comm of) { expect_success(MPI_Comm_dup(of, &m_announcements)); }

    MPI_Comm find(int key) {
        const std::scoped_lock lock(m_lock);
        if (const auto known = m_made.find(key); known != m_made.end()) {
            return known->second;
        }
        int rank = 0;
        MPI_Comm_rank(m_announcements, &rank);
        if (rank == 0) {
            announce(key);
            return make(key);
        }
        for (;;) {
            int announced = 0;
            expect_success(
                MPI_Recv(&announced, 1, MPI_INT, 0, 0, m_announcements, MPI_STATUS_IGNORE));
            const MPI_Comm made = make(announced);
            if (announced == key) {
                return made;
            }
        }
    }

private:
    void announce(int key) {
        int size = 1;
        MPI_Comm_size(m_announcements, &size);
        std::vector<MPI_Request> sent(static_cast<std::size_t>(size - 1));
        for (int to = 1; to < size; ++to) {
            expect_success(MPI_Isend(&key, 1, MPI_INT, to, 0, m_announcements,
                                     &sent[static_cast<std::size_t>(to - 1)]));
        }
        expect_success(MPI_Waitall(size - 1, sent.data(), MPI_STATUSES_IGNORE));
    }

    MPI_Comm make(int key) {
        MPI_Comm made = MPI_COMM_NULL;
        expect_success(MPI_Comm_dup(m_announcements, &made));
        m_made.emplace(key, made);
        return made;
    }

    MPI_Comm m_announcements = MPI_COMM_NULL;
    mutex m_lock;
    std::map<int, MPI_Comm> m_made;
};

/// A communicator's table is its attribute: a later communicator with the same handle has none.
class key_tables {
public:
    key_table& of(MPI_Comm comm) {
        const std::scoped_lock lock(m_lock);
        if (m_attribute == MPI_KEYVAL_INVALID) {
            expect_success(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                                                  &m_attribute, nullptr));
        }
        void* known = nullptr;
        int is_known = 0;
        expect_success(MPI_Comm_get_attr(comm, m_attribute, &known, &is_known));
        if (is_known != 0) {
            return *static_cast<key_table*>(known);
        }
        m_all.push_back(std::make_unique<key_table>(comm));
        expect_success(MPI_Comm_set_attr(comm, m_attribute, m_all.back().get()));
        return *m_all.back();
    }

private:
    mutex m_lock;
    int m_attribute = MPI_KEYVAL_INVALID;
    std::vector<std::unique_ptr<key_table>> m_all;
};

key_tables& all_tables() {
    static key_tables& tables = *new key_tables;  // as long as MPI
    return tables;
}

}  // namespace

MPI_Comm keyed(MPI_Comm comm, int key) {
    int is_inter = 0;
    if (comm != MPI_COMM_NULL) {
        expect_success(MPI_Comm_test_inter(comm, &is_inter));
    }
    if (comm == MPI_COMM_NULL || is_inter != 0) {
        throw std::invalid_argument(comm == MPI_COMM_NULL
                                        ? "quern: mpi::keyed of MPI_COMM_NULL"
                                        : "quern: mpi::keyed of an intercommunicator; accepted: an "
                                          "intracommunicator");
    }
    return all_tables().of(comm).find(key);
}

}  // namespace quern::mpi
