// SPDX-License-Identifier: BSL-1.0
// The entries of functions that wait for requests, test them, or look for messages.
#include "call_table.hpp"

namespace quern_test {

namespace {

void send_7(call_frame& f) { MPI_Send(f.in(), k_few, MPI_INT, f.peer, 7, f.comm); }
void send_8(call_frame& f) { MPI_Send(f.in() + k_few, k_few, MPI_INT, f.peer, 8, f.comm); }
void send_7_and_8(call_frame& f) {
    send_7(f);
    send_8(f);
}

[[maybe_unused]] void send_8_and_7(call_frame& f) {
    send_8(f);
    send_7(f);
}

/// MPICH calls the error handler of MPI_COMM_WORLD when a request ends with an error.
void return_errors(call_frame&) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }
void end_on_errors(call_frame&) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); }

void post(call_frame& f, int which) {
    const auto at = static_cast<std::size_t>(which);
    MPI_Irecv(f.out() + which * k_few, k_few, MPI_INT, f.peer, 7 + which, f.comm, &f.requests[at]);
}

void post_7(call_frame& f) {
    if (f.rank == f.early) {
        post(f, 0);
    }
}

void post_7_and_8(call_frame& f) {
    if (f.rank == f.early) {
        post(f, 0);
        post(f, 1);
    }
}

/// Tag 8 has been sent alone.
void finish_7(call_frame& f) {
    if (f.rank == f.early) {
        MPI_Wait(f.requests.data(), MPI_STATUS_IGNORE);
    } else {
        send_7(f);
    }
}

void note_requests(call_frame& f) {
    for (const MPI_Request each : f.requests) {
        f.note(each == MPI_REQUEST_NULL ? 1 : 0);
    }
}

template <class Early>
void add(std::vector<call_entry>& to, const char* name, const char* variant, call_part prepare,
         Early early, call_part answer, call_part finish = nullptr) {
    to.push_back(call_and_answer(name, variant, early, answer));
    to.back().prepare = prepare;
    to.back().finish = finish;
}

void add_wait_family(std::vector<call_entry>& to) {
    add(
        to, "Wait", "", post_7,
        []<bool Plain>(call_frame& f) {
            f.code = QUERN_CALL(Wait)(f.requests.data(), &f.status);
            note_requests(f);
        },
        send_7);
    add(
        to, "Wait", "truncated",
        [](call_frame& f) {
            return_errors(f);
            if (f.rank == f.early) {
                MPI_Irecv(f.out(), 2, MPI_INT, f.peer, 7, f.comm, f.requests.data());
            }
        },
        []<bool Plain>(call_frame& f) {
            MPI_Status status;
            f.code = QUERN_CALL(Wait)(f.requests.data(), &status);
            f.received.assign(k_many, k_untouched);
            note_requests(f);
        },
        send_7, end_on_errors);
    add(
        to, "Wait", "no rank", nullptr,
        []<bool Plain>(call_frame& f) {
            MPI_Irecv(f.out(), k_few, MPI_INT, MPI_PROC_NULL, 7, f.comm, f.requests.data());
            f.code = QUERN_CALL(Wait)(f.requests.data(), &f.status);
        },
        [](call_frame&) {});
    to.back().who = waits::neither;
    add(
        to, "Waitall", "", post_7_and_8,
        []<bool Plain>(call_frame& f) {
            f.code = QUERN_CALL(Waitall)(2, f.requests.data(), f.statuses.data());
            note_requests(f);
        },
        send_7_and_8);
    add(
        to, "Waitany", "", post_7_and_8,
        []<bool Plain>(call_frame& f) {
            int index = k_untouched;
            f.code = QUERN_CALL(Waitany)(2, f.requests.data(), &index, &f.status);
            f.note(index);
            note_requests(f);
        },
        send_8, finish_7);
    add(
        to, "Waitsome", "", post_7_and_8,
        []<bool Plain>(call_frame& f) {
            int count = k_untouched;
            std::array<int, 2> indices{k_untouched, k_untouched};
            f.code = QUERN_CALL(Waitsome)(2, f.requests.data(), &count, indices.data(),
                                          f.statuses.data());
            f.note(count);
            f.note(indices[0]);
            note_requests(f);
        },
        send_8, finish_7);
}

/// Not with Open MPI 4.1: plain MPI_Waitall never returns there when a request ends with an error
/// while it waits, so there is nothing to compare with.
void add_failing_waitall([[maybe_unused]] std::vector<call_entry>& to) {
#ifdef MPICH_VERSION
    add(
        to, "Waitall", "one truncated",
        [](call_frame& f) {
            return_errors(f);
            if (f.rank == f.early) {
                MPI_Irecv(f.out(), 2, MPI_INT, f.peer, 7, f.comm, f.requests.data());
                post(f, 1);
            }
        },
        []<bool Plain>(call_frame& f) {
            std::array<MPI_Status, 2> statuses{};
            f.code = QUERN_CALL(Waitall)(2, f.requests.data(), statuses.data());
            int error_class = 0;
            MPI_Error_class(statuses[0].MPI_ERROR, &error_class);
            f.note(error_class);
            f.received[0] = f.received[1] = k_untouched;
        },
        send_8_and_7, end_on_errors);
#endif
}

/// Tests until something is found.
void add_test_family(std::vector<call_entry>& to) {
    add(
        to, "Test", "", post_7,
        []<bool Plain>(call_frame& f) {
            for (int flag = 0; flag == 0;) {
                f.code = QUERN_CALL(Test)(f.requests.data(), &flag, &f.status);
            }
            note_requests(f);
        },
        send_7);
    add(
        to, "Testall", "", post_7_and_8,
        []<bool Plain>(call_frame& f) {
            for (int flag = 0; flag == 0;) {
                f.code = QUERN_CALL(Testall)(2, f.requests.data(), &flag, f.statuses.data());
            }
            note_requests(f);
        },
        send_7_and_8);
    add(
        to, "Testany", "", post_7_and_8,
        []<bool Plain>(call_frame& f) {
            int index = k_untouched;
            for (int flag = 0; flag == 0;) {
                f.code = QUERN_CALL(Testany)(2, f.requests.data(), &index, &flag, &f.status);
            }
            f.note(index);
            note_requests(f);
        },
        send_8, finish_7);
    add(
        to, "Testsome", "", post_7_and_8,
        []<bool Plain>(call_frame& f) {
            std::array<int, 2> indices{k_untouched, k_untouched};
            int count = 0;
            while (count == 0) {
                f.code = QUERN_CALL(Testsome)(2, f.requests.data(), &count, indices.data(),
                                              f.statuses.data());
            }
            f.note(count);
            f.note(indices[0]);
            note_requests(f);
        },
        send_8, finish_7);
    add(
        to, "Request_get_status", "", post_7,
        []<bool Plain>(call_frame& f) {
            for (int flag = 0; flag == 0;) {
                f.code = QUERN_CALL(Request_get_status)(f.requests[0], &flag, &f.status);
            }
            MPI_Wait(f.requests.data(), MPI_STATUS_IGNORE);
        },
        send_7);
}

void add_probes(std::vector<call_entry>& to) {
    add(
        to, "Probe", "", nullptr,
        []<bool Plain>(call_frame& f) {
            f.code = QUERN_CALL(Probe)(MPI_ANY_SOURCE, MPI_ANY_TAG, f.comm, &f.status);
            MPI_Recv(f.out(), k_few, MPI_INT, f.peer, 7, f.comm, MPI_STATUS_IGNORE);
        },
        send_7);
    add(
        to, "Iprobe", "", nullptr,
        []<bool Plain>(call_frame& f) {
            for (int flag = 0; flag == 0;) {
                f.code = QUERN_CALL(Iprobe)(f.peer, 7, f.comm, &flag, &f.status);
            }
            MPI_Recv(f.out(), k_few, MPI_INT, f.peer, 7, f.comm, MPI_STATUS_IGNORE);
        },
        send_7);
    add(
        to, "Mprobe", "", nullptr,
        []<bool Plain>(call_frame& f) {
            MPI_Message message = MPI_MESSAGE_NULL;
            f.code = QUERN_CALL(Mprobe)(f.peer, MPI_ANY_TAG, f.comm, &message, &f.status);
            MPI_Mrecv(f.out(), k_few, MPI_INT, &message, MPI_STATUS_IGNORE);
        },
        send_7);
    add(
        to, "Improbe", "", nullptr,
        []<bool Plain>(call_frame& f) {
            MPI_Message message = MPI_MESSAGE_NULL;
            for (int flag = 0; flag == 0;) {
                f.code = QUERN_CALL(Improbe)(f.peer, 7, f.comm, &flag, &message, &f.status);
            }
            MPI_Mrecv(f.out(), k_few, MPI_INT, &message, MPI_STATUS_IGNORE);
        },
        send_7);
}

/// Started twice, and an end each time.
void add_persistent(std::vector<call_entry>& to) {
    add(
        to, "Start", "persistent receipt, waited for by MPI_Wait",
        [](call_frame& f) {
            if (f.rank == f.early) {
                MPI_Recv_init(f.out(), k_few, MPI_INT, f.peer, 7, f.comm, f.requests.data());
            }
        },
        []<bool Plain>(call_frame& f) {
            for (int round = 0; round < 2; ++round) {
                f.code = QUERN_CALL(Start)(f.requests.data());
                QUERN_CALL(Wait)(f.requests.data(), &f.status);
                f.note(f.out()[0]);
                note_requests(f);
            }
            MPI_Request_free(f.requests.data());
        },
        [](call_frame& f) {
            send_7(f);
            send_7(f);
        });
    add(
        to, "Startall", "persistent sending and receipt, waited for by MPI_Waitall",
        [](call_frame& f) {
            MPI_Ssend_init(f.in(), k_few, MPI_INT, f.peer, 7, f.comm, &f.requests[0]);
            MPI_Recv_init(f.out(), k_few, MPI_INT, f.peer, 7, f.comm, &f.requests[1]);
        },
        []<bool Plain>(call_frame& f) {
            for (int round = 0; round < 2; ++round) {
                f.code = QUERN_CALL(Startall)(2, f.requests.data());
                QUERN_CALL(Waitall)(2, f.requests.data(), MPI_STATUSES_IGNORE);
            }
        },
        [](call_frame& f) {
            for (int round = 0; round < 2; ++round) {
                MPI_Startall(2, f.requests.data());
                MPI_Waitall(2, f.requests.data(), MPI_STATUSES_IGNORE);
            }
        },
        [](call_frame& f) {
            MPI_Request_free(&f.requests[0]);
            MPI_Request_free(&f.requests[1]);
        });
}

}  // namespace

void add_waits(std::vector<call_entry>& to) {
    add_wait_family(to);
    add_failing_waitall(to);
    add_test_family(to);
    add_probes(to);
    add_persistent(to);
}

}  // namespace quern_test
