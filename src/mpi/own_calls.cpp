// SPDX-License-Identifier: BSL-1.0
// MPI's functions that no rule of generate_calls.py covers: those that wait for or test requests,
// probes, and the exchanges.
#include "calls.hpp"
#include "traffic.hpp"

#include <cstddef>
#include <vector>

using namespace quern::mpi::detail;

namespace {

/// A function that tests: what it says, and whether it found something. One that finds nothing is a
/// place where the task gives way.
template <class Test>
int test_once(const call_kind& kind, const int& found, Test test) {
    const int code = run_plain({.kind = &kind.wait}, test);
    if (code == MPI_SUCCESS && found == 0) {
        after_vain_test();
    }
    return code;
}

/// A function that waits until a test says "found".
template <class Test>
int wait_for(const call_note& what, Test test) {
    return run_attempts(what, [&](int& code) {
        int found = 0;
        code = test(found);
        return found != 0 || code != MPI_SUCCESS;
    });
}

/// The message that MPI_Sendrecv_replace sends, outside of the buffer into which it receives.
struct packed_message {
    std::vector<std::byte> bytes;
    int size = 0;

    int pack(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
        int room = 0;
        if (const int code = PMPI_Pack_size(count, type, comm, &room); code != MPI_SUCCESS) {
            return code;
        }
        bytes.resize(static_cast<std::size_t>(room));
        return PMPI_Pack(buffer, count, type, bytes.data(), room, &size, comm);
    }
};

/// Both halves of an exchange; ends when both have. The error of the receipt first.
class exchange_ends {
public:
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};  ///< receipt, sending

    bool test(int& code, MPI_Status* status) {
        for (int i = 0; i < 2; ++i) {
            if (!m_has_ended[i]) {
                int found = 0;
                const int error =
                    PMPI_Test(&requests[i], &found, i == 0 ? status : MPI_STATUS_IGNORE);
                m_has_ended[i] = found != 0 || error != MPI_SUCCESS;
                m_error[i] = error;
            }
        }
        code = m_error[0] != MPI_SUCCESS ? m_error[0] : m_error[1];
        return m_has_ended[0] && m_has_ended[1];
    }

private:
    bool m_has_ended[2] = {false, false};
    int m_error[2] = {MPI_SUCCESS, MPI_SUCCESS};
};

/// `what` is the receipt.
template <class Receive, class Send>
int exchange(const call_note& what, const call_note& sent, MPI_Status* wanted, Receive receive,
             Send send) {
    exchange_ends both;
    bool is_posted = false;
    MPI_Status seen = {};
    MPI_Status* const status = &seen;
    tell_sending(sent);
    const int result = run_attempts(what, [&](int& code) {
        if (!is_posted) {
            is_posted = true;
            code = receive(&both.requests[0]);
            if (code == MPI_SUCCESS) {
                code = send(&both.requests[1]);
            }
            if (code != MPI_SUCCESS) {
                return true;
            }
        }
        return both.test(code, status);
    });
    if (what.peer == MPI_PROC_NULL) {
        become_empty(seen);
    }
    if (result == MPI_SUCCESS) {
        count_sent(sent);
        has_received(what, seen);
    }
    if (wanted != MPI_STATUS_IGNORE) {
        seen.MPI_ERROR = wanted->MPI_ERROR;
        *wanted = seen;
    }
    return result;
}

}  // namespace

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Wait(request, status);
    }
    static constexpr call_kind kind{"MPI_Wait"};
    request_operation one({.kind = &kind.wait}, *request, status);
    return engine::of_process().run(one);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (!is_shared()) {
        return PMPI_Waitall(count, requests, statuses);
    }
    static constexpr call_kind kind{"MPI_Waitall"};
    return wait_for({.kind = &kind.wait, .requests = count},
                    [&](int& found) { return PMPI_Testall(count, requests, &found, statuses); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Waitany(count, requests, index, status);
    }
    static constexpr call_kind kind{"MPI_Waitany"};
    return wait_for({.kind = &kind.wait, .requests = count}, [&](int& found) {
        return PMPI_Testany(count, requests, index, &found, status);
    });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
    if (!is_shared()) {
        return PMPI_Waitsome(count, requests, ended, indices, statuses);
    }
    static constexpr call_kind kind{"MPI_Waitsome"};
    return wait_for({.kind = &kind.wait, .requests = count}, [&](int& found) {
        const int code = PMPI_Testsome(count, requests, ended, indices, statuses);
        found = static_cast<int>(*ended != 0);  // also MPI_UNDEFINED: there is nothing to wait for
        return code;
    });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Test(request, flag, status);
    }
    static constexpr call_kind kind{"MPI_Test"};
    return test_once(kind, *flag, [&] { return PMPI_Test(request, flag, status); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (!is_shared()) {
        return PMPI_Testall(count, requests, flag, statuses);
    }
    static constexpr call_kind kind{"MPI_Testall"};
    return test_once(kind, *flag, [&] { return PMPI_Testall(count, requests, flag, statuses); });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Testany(count, requests, index, flag, status);
    }
    static constexpr call_kind kind{"MPI_Testany"};
    return test_once(kind, *flag,
                     [&] { return PMPI_Testany(count, requests, index, flag, status); });
}

int MPI_Testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
    if (!is_shared()) {
        return PMPI_Testsome(count, requests, ended, indices, statuses);
    }
    static constexpr call_kind kind{"MPI_Testsome"};
    return test_once(kind, *ended,
                     [&] { return PMPI_Testsome(count, requests, ended, indices, statuses); });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Request_get_status(request, flag, status);
    }
    static constexpr call_kind kind{"MPI_Request_get_status"};
    return test_once(kind, *flag, [&] { return PMPI_Request_get_status(request, flag, status); });
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Iprobe(source, tag, comm, flag, status);
    }
    static constexpr call_kind kind{"MPI_Iprobe"};
    return test_once(kind, *flag, [&] { return PMPI_Iprobe(source, tag, comm, flag, status); });
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Improbe(source, tag, comm, flag, message, status);
    }
    static constexpr call_kind kind{"MPI_Improbe"};
    return test_once(kind, *flag,
                     [&] { return PMPI_Improbe(source, tag, comm, flag, message, status); });
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Probe(source, tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Probe"};
    return wait_for({.kind = &kind.wait, .peer = source, .tag = tag, .comm = comm},
                    [&](int& found) { return PMPI_Iprobe(source, tag, comm, &found, status); });
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Mprobe(source, tag, comm, message, status);
    }
    static constexpr call_kind kind{"MPI_Mprobe"};
    return wait_for(
        {.kind = &kind.wait, .peer = source, .tag = tag, .comm = comm},
        [&](int& found) { return PMPI_Improbe(source, tag, comm, &found, message, status); });
}

int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int dest, int sent_tag,
                 void* received, int received_count, MPI_Datatype received_type, int source,
                 int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Sendrecv(sent, sent_count, sent_type, dest, sent_tag, received, received_count,
                             received_type, source, received_tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv"};
    const call_note what{.kind = &kind.wait,
                         .peer = source,
                         .tag = received_tag,
                         .count = received_count,
                         .type = received_type,
                         .comm = comm,
                         .way = message_way::received};
    return exchange(
        what, sending_half(what, dest, sent_tag, sent_count, sent_type), status,
        [&](MPI_Request* made) {
            return PMPI_Irecv(received, received_count, received_type, source, received_tag, comm,
                              made);
        },
        [&](MPI_Request* made) {
            return PMPI_Isend(sent, sent_count, sent_type, dest, sent_tag, comm, made);
        });
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int sent_tag,
                         int source, int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Sendrecv_replace(buffer, count, type, dest, sent_tag, source, received_tag,
                                     comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv_replace"};
    packed_message sent;
    const call_note what{.kind = &kind.wait,
                         .peer = source,
                         .tag = received_tag,
                         .count = count,
                         .type = type,
                         .comm = comm,
                         .way = message_way::received};
    return exchange(
        what, sending_half(what, dest, sent_tag, count, type), status,
        [&](MPI_Request* made) {
            const int code = sent.pack(buffer, count, type, comm);
            return code != MPI_SUCCESS
                       ? code
                       : PMPI_Irecv(buffer, count, type, source, received_tag, comm, made);
        },
        [&](MPI_Request* made) {
            return PMPI_Isend(sent.bytes.data(), sent.size, MPI_PACKED, dest, sent_tag, comm, made);
        });
}

}  // extern "C"
