// SPDX-License-Identifier: BSL-1.0
// MPI_Sendrecv, MPI_Sendrecv_replace and their forms with large counts: a receipt and a sending,
// both posted before either is waited for. MPICH 4.0's MPI_Isendrecv is no twin of them: it fills
// in no status.
#include "calls.hpp"
#include "errors.hpp"
#include "traffic.hpp"

#include <cstddef>
#include <vector>

using namespace quern::mpi::detail;

namespace {

/// Both halves of an exchange; ends when both have. The error of the receipt first.
class exchange_ends {
public:
    exchange_ends(const call_note& what, MPI_Status* status) : m_what(what), m_status(status) {}

    template <class Receive, class Send>
    int post(Receive receive, Send send) {
        if (const int code = receive(&m_requests[0]); code != MPI_SUCCESS) {
            return code;
        }
        const int code = send(&m_requests[1]);
        if (code != MPI_SUCCESS) {
            // The call has failed: nothing may arrive in the buffer any more.
            PMPI_Cancel(&m_requests[0]);
            PMPI_Wait(&m_requests[0], MPI_STATUS_IGNORE);
        }
        return code;
    }

    bool test(int& code) {
        for (int i = 0; i < 2; ++i) {
            if (!m_has_ended[i]) {
                int found = 0;
                m_error[i] = test_request(m_what, m_requests[i], found,
                                          i == 0 ? m_status : MPI_STATUS_IGNORE);
                m_has_ended[i] = found != 0 || m_error[i] != MPI_SUCCESS;
                if (m_has_ended[i] && i == 0) {
                    correct_status(m_what, m_status);
                }
            }
        }
        code = m_error[0] != MPI_SUCCESS ? m_error[0] : m_error[1];
        return m_has_ended[0] && m_has_ended[1];
    }

private:
    const call_note& m_what;
    MPI_Status* m_status;
    MPI_Request m_requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};  ///< receipt, sending
    bool m_has_ended[2] = {false, false};
    int m_error[2] = {MPI_SUCCESS, MPI_SUCCESS};
};

/// `what` is the receipt.
template <class Receive, class Send>
int exchange(const call_note& what, const call_note& sent, MPI_Status* status, Receive receive,
             Send send) {
    received_status seen(status);
    exchange_ends both(what, seen.get());
    bool is_posted = false;
    const posted_receive posted = begin_receive(what);
    tell_sending(sent);
    call_note both_halves = what;
    both_halves.also = &sent;
    const int result = run_attempts(both_halves, [&](int& code) {
        if (!is_posted) {
            is_posted = true;
            code = both.post(receive, send);
            if (code != MPI_SUCCESS) {
                return true;
            }
        }
        return both.test(code);
    });
    if (result == MPI_SUCCESS) {
        count_sent(sent);
        has_received(what, *seen.get(), posted);
    }
    return result;
}

/// The message that MPI_Sendrecv_replace sends, outside of the buffer into which it receives.
/// `Size` is the type of counts.
template <class Size>
class packed_message {
public:
    template <class Count>
    int pack(const void* buffer, Count count, MPI_Datatype type, MPI_Comm comm, auto find_size,
             auto pack_it) {
        Size room = 0;
        if (const int code = find_size(count, type, comm, &room); code != MPI_SUCCESS) {
            return code;
        }
        m_bytes.resize(static_cast<std::size_t>(room));
        return pack_it(buffer, count, type, m_bytes.data(), room, &m_size, comm);
    }

    const void* bytes() const { return m_bytes.data(); }
    Size size() const { return m_size; }

private:
    std::vector<std::byte> m_bytes;
    Size m_size = 0;
};

}  // namespace

extern "C" {

int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int dest, int sent_tag,
                 void* received, int received_count, MPI_Datatype received_type, int source,
                 int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Sendrecv(sent, sent_count, sent_type, dest, sent_tag, received, received_count,
                             received_type, source, received_tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv"};
    return exchange(
        {.kind = &kind.wait,
         .peer = source,
         .tag = received_tag,
         .count = received_count,
         .type = received_type,
         .comm = comm,
         .way = message_way::received},
        {.kind = &kind.wait,
         .is_sent = true,
         .peer = dest,
         .tag = sent_tag,
         .count = sent_count,
         .type = sent_type,
         .comm = comm,
         .way = message_way::sent},
        status,
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
    packed_message<int> sent;
    return exchange(
        {.kind = &kind.wait,
         .peer = source,
         .tag = received_tag,
         .count = count,
         .type = type,
         .comm = comm,
         .way = message_way::received},
        {.kind = &kind.wait,
         .is_sent = true,
         .peer = dest,
         .tag = sent_tag,
         .count = count,
         .type = type,
         .comm = comm,
         .way = message_way::sent},
        status,
        [&](MPI_Request* made) {
            const int code = sent.pack(buffer, count, type, comm, PMPI_Pack_size, PMPI_Pack);
            return code != MPI_SUCCESS
                       ? code
                       : PMPI_Irecv(buffer, count, type, source, received_tag, comm, made);
        },
        [&](MPI_Request* made) {
            return PMPI_Isend(sent.bytes(), sent.size(), MPI_PACKED, dest, sent_tag, comm, made);
        });
}

#if MPI_VERSION >= 4

int MPI_Sendrecv_c(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, int dest,
                   int sent_tag, void* received, MPI_Count received_count,
                   MPI_Datatype received_type, int source, int received_tag, MPI_Comm comm,
                   MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Sendrecv_c(sent, sent_count, sent_type, dest, sent_tag, received,
                               received_count, received_type, source, received_tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv_c"};
    return exchange(
        {.kind = &kind.wait,
         .peer = source,
         .tag = received_tag,
         .count = received_count,
         .type = received_type,
         .comm = comm,
         .way = message_way::received},
        {.kind = &kind.wait,
         .is_sent = true,
         .peer = dest,
         .tag = sent_tag,
         .count = sent_count,
         .type = sent_type,
         .comm = comm,
         .way = message_way::sent},
        status,
        [&](MPI_Request* made) {
            return PMPI_Irecv_c(received, received_count, received_type, source, received_tag, comm,
                                made);
        },
        [&](MPI_Request* made) {
            return PMPI_Isend_c(sent, sent_count, sent_type, dest, sent_tag, comm, made);
        });
}

int MPI_Sendrecv_replace_c(void* buffer, MPI_Count count, MPI_Datatype type, int dest, int sent_tag,
                           int source, int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return PMPI_Sendrecv_replace_c(buffer, count, type, dest, sent_tag, source, received_tag,
                                       comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv_replace_c"};
    packed_message<MPI_Count> sent;
    return exchange(
        {.kind = &kind.wait,
         .peer = source,
         .tag = received_tag,
         .count = count,
         .type = type,
         .comm = comm,
         .way = message_way::received},
        {.kind = &kind.wait,
         .is_sent = true,
         .peer = dest,
         .tag = sent_tag,
         .count = count,
         .type = type,
         .comm = comm,
         .way = message_way::sent},
        status,
        [&](MPI_Request* made) {
            const int code = sent.pack(buffer, count, type, comm, PMPI_Pack_size_c, PMPI_Pack_c);
            return code != MPI_SUCCESS
                       ? code
                       : PMPI_Irecv_c(buffer, count, type, source, received_tag, comm, made);
        },
        [&](MPI_Request* made) {
            return PMPI_Isend_c(sent.bytes(), sent.size(), MPI_PACKED, dest, sent_tag, comm, made);
        });
}

#endif

}  // extern "C"
