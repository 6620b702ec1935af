// SPDX-License-Identifier: BSL-1.0
// MPI's functions that no rule of generate_calls.py covers: those that wait for or test requests,
// and probes.
#include "calls/calls.hpp"
#include "messages/message_trace.hpp"

#include <cstddef>
#include <vector>

using namespace quern::mpi::detail;

namespace {

/// A function that tests: what it says, and whether it found something. One that finds nothing is a
/// place where the task gives way.
/// `ended`: told the code of one that has found something, or has failed.
template <class Test, class Ended>
int test_once(const call_kind& kind, const int& found, Test test, Ended ended) {
    const int code = run_plain({.kind = &kind.wait}, test);
    if (code == MPI_SUCCESS && found == 0) {
        after_vain_test();
    } else {
        ended(code);
    }
    return code;
}

template <class Test>
int test_once(const call_kind& kind, const int& found, Test test) {
    return test_once(kind, found, test, [](int) {});
}

/// What MPI_Testsome says has ended.
void end_some(ended_requests& seen, int code, int count, const int* indices) noexcept {
    for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
        seen.end(indices[i], i);
    }
}

/// A probe has found a message for MPI_Mrecv.
void keep_if_found(int code, int found, const MPI_Message* message, MPI_Comm comm) noexcept {
    if (code == MPI_SUCCESS && found != 0 && are_messages_traced()) [[unlikely]] {
        keep_found_message(*message, comm);
    }
}

#ifdef MPICH_VERSION

/// What MPI_Waitall waits for. MPI_Testall of MPICH 4.0 must not be asked: of several requests of
/// files it fails an assertion. Nor may MPI_Testsome: several collective operations on a file that
/// ranks further in different orders hang. So requests are tested one after the other, as MPICH's
/// MPI_Waitall does; the first that has not ended is where the next look begins.
class awaited_requests {
public:
    awaited_requests(int count, MPI_Request* requests, ended_requests& seen)
        : m_count(count), m_requests(requests), m_seen(seen) {}

    /// Looks. `is_over`: all have ended. What MPI_Waitall returns then, or if the call is wrong.
    /// Inside the entrance.
    int test(const call_note& what, int& is_over) {
        if (m_count < 0) {
            return next::Testall(m_count, m_requests, &is_over, m_seen.statuses());
        }
        const int wrong = test_in_order();
        raise_error(what, wrong);
        is_over = static_cast<int>(m_next == m_count);
        return is_over != 0 ? conclude(what) : wrong;
    }

private:
    /// The error of a request that is none.
    int test_in_order() {
        const returned_errors returned;
        for (; m_next < m_count; ++m_next) {
            MPI_Status status{};  // MPI fills in parts of that of a send
            int has_ended = 0;
            const int code = next::Test(&m_requests[m_next], &has_ended, &status);
            if (has_ended == 0) {
                return code;
            }
            keep(status, code);
        }
        return MPI_SUCCESS;
    }

    bool has_statuses() const noexcept { return m_seen.statuses() != MPI_STATUSES_IGNORE; }

    /// Of the request m_next. The error in its status is the caller's unless a request fails.
    void keep(MPI_Status status, int code) {
        if (has_statuses()) {
            MPI_Status& into = m_seen.statuses()[m_next];
            status.MPI_ERROR = into.MPI_ERROR;
            into = status;
        }
        if (code != MPI_SUCCESS) {
            m_errors.resize(static_cast<std::size_t>(m_count), MPI_SUCCESS);
            m_errors[static_cast<std::size_t>(m_next)] = code;
            m_first_error = m_first_error != MPI_SUCCESS ? m_first_error : code;
        }
        m_seen.forget(m_next);
    }

    int conclude(const call_note& what) {
        if (m_errors.empty()) {
            return MPI_SUCCESS;
        }
        for (std::size_t i = 0; has_statuses() && i < m_errors.size(); ++i) {
            m_seen.statuses()[i].MPI_ERROR = m_errors[i];
        }
        raise_error(what, MPI_ERR_IN_STATUS, m_first_error);
        return MPI_ERR_IN_STATUS;
    }

    int m_count;
    MPI_Request* m_requests;
    ended_requests& m_seen;
    int m_next = 0;               ///< the first that has not ended
    std::vector<int> m_errors{};  ///< of each request; empty: none has failed
    int m_first_error = MPI_SUCCESS;
};

#else

/// What MPI_Waitall waits for.
class awaited_requests {
public:
    awaited_requests(int count, MPI_Request* requests, ended_requests& seen)
        : m_count(count), m_requests(requests), m_seen(seen) {}

    int test(const call_note& /*what*/, int& is_over) {
        return next::Testall(m_count, m_requests, &is_over, m_seen.statuses());
    }

private:
    int m_count;
    MPI_Request* m_requests;
    ended_requests& m_seen;
};

#endif

/// A function that waits until a test says "found".
template <class Test>
int wait_for(const call_note& what, Test test) {
    return run_attempts(what, [&](int& code) {
        int found = 0;
        code = test(found);
        return found != 0 || code != MPI_SUCCESS;
    });
}

}  // namespace

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    ended_requests seen(1, request, status, 1);
    if (!is_shared()) {
        return next::Wait(request, status);
    }
    static constexpr call_kind kind{"MPI_Wait"};
    request_operation one({.kind = &kind.wait, .handles = request}, *request, seen.statuses());
    const int code = engine::of_process().run(one);
    seen.end_all(code);
    return code;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    ended_requests seen(count, requests, statuses, count);
    if (!is_shared()) {
        return next::Waitall(count, requests, statuses);
    }
    static constexpr call_kind kind{"MPI_Waitall"};
    const call_note what{.kind = &kind.wait, .requests = count, .handles = requests};
    awaited_requests all(count, requests, seen);
    const int code = wait_for(what, [&](int& found) { return all.test(what, found); });
    seen.end_all(code);
    return code;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    ended_requests seen(count, requests, status, 1);
    if (!is_shared()) {
        return next::Waitany(count, requests, index, status);
    }
    static constexpr call_kind kind{"MPI_Waitany"};
    const call_note what{
        .kind = &kind.wait, .requests = count, .handles = requests, .is_any = true};
    const int code = wait_for(what, [&](int& found) {
        return next::Testany(count, requests, index, &found, seen.statuses());
    });
    if (code == MPI_SUCCESS) {
        seen.end(*index);
    }
    return code;
}

int MPI_Waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
    ended_requests seen(count, requests, statuses, count);
    if (!is_shared()) {
        return next::Waitsome(count, requests, ended, indices, statuses);
    }
    static constexpr call_kind kind{"MPI_Waitsome"};
    const call_note what{
        .kind = &kind.wait, .requests = count, .handles = requests, .is_any = true};
    const int code = wait_for(what, [&](int& found) {
        const int result = next::Testsome(count, requests, ended, indices, seen.statuses());
        found = static_cast<int>(*ended != 0);  // also MPI_UNDEFINED: there is nothing to wait for
        return result;
    });
    end_some(seen, code, *ended, indices);
    return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    ended_requests seen(1, request, status, 1);
    if (!is_shared()) {
        return next::Test(request, flag, status);
    }
    static constexpr call_kind kind{"MPI_Test"};
    return test_once(
        kind, *flag, [&] { return next::Test(request, flag, seen.statuses()); },
        [&](int code) { seen.end_all(code); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    ended_requests seen(count, requests, statuses, count);
    if (!is_shared()) {
        return next::Testall(count, requests, flag, statuses);
    }
    static constexpr call_kind kind{"MPI_Testall"};
    return test_once(
        kind, *flag, [&] { return next::Testall(count, requests, flag, seen.statuses()); },
        [&](int code) { seen.end_all(code); });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    ended_requests seen(count, requests, status, 1);
    if (!is_shared()) {
        return next::Testany(count, requests, index, flag, status);
    }
    static constexpr call_kind kind{"MPI_Testany"};
    return test_once(
        kind, *flag, [&] { return next::Testany(count, requests, index, flag, seen.statuses()); },
        [&](int code) {
            if (code == MPI_SUCCESS) {
                seen.end(*index);
            }
        });
}

int MPI_Testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
    ended_requests seen(count, requests, statuses, count);
    if (!is_shared()) {
        return next::Testsome(count, requests, ended, indices, statuses);
    }
    static constexpr call_kind kind{"MPI_Testsome"};
    return test_once(
        kind, *ended,
        [&] { return next::Testsome(count, requests, ended, indices, seen.statuses()); },
        [&](int code) { end_some(seen, code, *ended, indices); });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    if (!is_shared()) {
        return next::Request_get_status(request, flag, status);
    }
    static constexpr call_kind kind{"MPI_Request_get_status"};
    return test_once(kind, *flag, [&] { return next::Request_get_status(request, flag, status); });
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (!is_shared()) {
        return next::Iprobe(source, tag, comm, flag, status);
    }
    static constexpr call_kind kind{"MPI_Iprobe"};
    return test_once(kind, *flag, [&] { return next::Iprobe(source, tag, comm, flag, status); });
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    if (!is_shared()) {
        return next::Improbe(source, tag, comm, flag, message, status);
    }
    static constexpr call_kind kind{"MPI_Improbe"};
    return test_once(
        kind, *flag, [&] { return next::Improbe(source, tag, comm, flag, message, status); },
        [&](int code) { keep_if_found(code, *flag, message, comm); });
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_shared()) {
        return next::Probe(source, tag, comm, status);
    }
    static constexpr call_kind kind{"MPI_Probe"};
    return wait_for({.kind = &kind.wait, .peer = source, .tag = tag, .comm = comm},
                    [&](int& found) { return next::Iprobe(source, tag, comm, &found, status); });
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    if (!is_shared()) {
        return next::Mprobe(source, tag, comm, message, status);
    }
    static constexpr call_kind kind{"MPI_Mprobe"};
    const int code = wait_for(
        {.kind = &kind.wait, .peer = source, .tag = tag, .comm = comm},
        [&](int& found) { return next::Improbe(source, tag, comm, &found, message, status); });
    keep_if_found(code, 1, message, comm);
    return code;
}

}  // extern "C"
