// SPDX-License-Identifier: BSL-1.0
// MPI_Sendrecv, MPI_Sendrecv_replace and their forms with large counts: a receipt and a sending,
// both posted before either is waited for. MPICH 4.0's MPI_Isendrecv is no twin of them: it fills
// in no status.
#include "calls/calls.hpp"
#include "messages/traffic.hpp"
#include "progress/errors.hpp"

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
            next::Cancel(&m_requests[0]);
            next::Wait(&m_requests[0], MPI_STATUS_IGNORE);
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
            prepare_errors(what.comm);
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

/// MPI's functions for counts of that type.
template <class Count>
struct calls_with;
template <>
struct calls_with<int> {
    static constexpr auto& k_irecv = next::Irecv;
    static constexpr auto& k_isend = next::Isend;
    static constexpr auto& k_pack_size = next::Pack_size;
    static constexpr auto& k_pack = next::Pack;
};
#if MPI_VERSION >= 4
template <>
struct calls_with<MPI_Count> {
    static constexpr auto& k_irecv = next::Irecv_c;
    static constexpr auto& k_isend = next::Isend_c;
    static constexpr auto& k_pack_size = next::Pack_size_c;
    static constexpr auto& k_pack = next::Pack_c;
};
#endif

/// What a call says of one of the two messages.
template <class Count>
struct half {
    Count count;
    MPI_Datatype type;
    int peer;
    int tag;

    call_note note(const call_kind& kind, MPI_Comm comm, message_way way) const {
        return {.kind = &kind.wait,
                .is_sent = way == message_way::sent,
                .peer = peer,
                .tag = tag,
                .count = count,
                .type = type,
                .comm = comm,
                .way = way};
    }
};

template <class Count>
int send_and_receive(const call_kind& kind, const void* from, const half<Count>& sent, void* to,
                     const half<Count>& received, MPI_Comm comm, MPI_Status* status) {
    return exchange(
        received.note(kind, comm, message_way::received), sent.note(kind, comm, message_way::sent),
        status,
        [&](MPI_Request* made) {
            return calls_with<Count>::k_irecv(to, received.count, received.type, received.peer,
                                              received.tag, comm, made);
        },
        [&](MPI_Request* made) {
            return calls_with<Count>::k_isend(from, sent.count, sent.type, sent.peer, sent.tag,
                                              comm, made);
        });
}

/// What is sent is packed first, since the other message comes into the same buffer.
template <class Count>
int send_and_replace(const call_kind& kind, void* buffer, const half<Count>& sent,
                     const half<Count>& received, MPI_Comm comm, MPI_Status* status) {
    using calls = calls_with<Count>;
    std::vector<std::byte> packed;
    Count size = 0;
    const auto pack = [&] {
        Count room = 0;
        const int code = calls::k_pack_size(sent.count, sent.type, comm, &room);
        if (code != MPI_SUCCESS) {
            return code;
        }
        packed.resize(static_cast<std::size_t>(room));
        return calls::k_pack(buffer, sent.count, sent.type, packed.data(), room, &size, comm);
    };
    return exchange(
        received.note(kind, comm, message_way::received), sent.note(kind, comm, message_way::sent),
        status,
        [&](MPI_Request* made) {
            const int code = pack();
            return code != MPI_SUCCESS ? code
                                       : calls::k_irecv(buffer, received.count, received.type,
                                                        received.peer, received.tag, comm, made);
        },
        [&](MPI_Request* made) {
            return calls::k_isend(packed.data(), size, MPI_PACKED, sent.peer, sent.tag, comm, made);
        });
}

}  // namespace

extern "C" {

int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int dest, int sent_tag,
                 void* received, int received_count, MPI_Datatype received_type, int source,
                 int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return next::Sendrecv(sent, sent_count, sent_type, dest, sent_tag, received, received_count,
                              received_type, source, received_tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv"};
    return send_and_receive<int>(kind, sent, {sent_count, sent_type, dest, sent_tag}, received,
                                 {received_count, received_type, source, received_tag}, comm,
                                 status);
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int sent_tag,
                         int source, int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return next::Sendrecv_replace(buffer, count, type, dest, sent_tag, source, received_tag,
                                      comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv_replace"};
    return send_and_replace<int>(kind, buffer, {count, type, dest, sent_tag},
                                 {count, type, source, received_tag}, comm, status);
}

#if MPI_VERSION >= 4

int MPI_Sendrecv_c(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, int dest,
                   int sent_tag, void* received, MPI_Count received_count,
                   MPI_Datatype received_type, int source, int received_tag, MPI_Comm comm,
                   MPI_Status* status) {
    if (!is_shared()) {
        return next::Sendrecv_c(sent, sent_count, sent_type, dest, sent_tag, received,
                                received_count, received_type, source, received_tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv_c"};
    return send_and_receive<MPI_Count>(
        kind, sent, {sent_count, sent_type, dest, sent_tag}, received,
        {received_count, received_type, source, received_tag}, comm, status);
}

int MPI_Sendrecv_replace_c(void* buffer, MPI_Count count, MPI_Datatype type, int dest, int sent_tag,
                           int source, int received_tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return next::Sendrecv_replace_c(buffer, count, type, dest, sent_tag, source, received_tag,
                                        comm, status);
    }
    static constexpr call_kind kind{"MPI_Sendrecv_replace_c"};
    return send_and_replace<MPI_Count>(kind, buffer, {count, type, dest, sent_tag},
                                       {count, type, source, received_tag}, comm, status);
}

#endif

}  // extern "C"
