// SPDX-License-Identifier: BSL-1.0
// Calls in words, for reports and statistics.
#include "notes/notes.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace quern::mpi::detail {

std::string peer_words(const call_note& note) {
    std::string words;
    if (note.way == message_way::none && note.peer != call_note::k_none &&
        note.tag == call_note::k_none) {
        words = "root " + std::to_string(note.peer);  // of a collective call
    } else if (note.peer == MPI_ANY_SOURCE) {
        words = "from any rank";
    } else if (note.peer != call_note::k_none) {
        words = (note.is_sent ? "to rank " : "from rank ") + std::to_string(note.peer);
    }
    return words;
}

const char* comm_words(const call_note& note) noexcept {
    return note.comm == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
           : note.comm == MPI_COMM_SELF ? "MPI_COMM_SELF"
                                        : note.comm_name.data();
}

std::string details_of(const call_note& note) {
    std::string words = peer_words(note);
    auto add = [&words](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
    if (const char* const comm = comm_words(note); comm[0] != '\0') {
        words += (words.empty() ? "on " : " of ") + std::string(comm);
    }
    if (note.tag == MPI_ANY_TAG) {
        add("any tag");
    } else if (note.tag != call_note::k_none) {
        add("tag " + std::to_string(note.tag));
    }
    if (note.bytes >= 0) {
        const bool is_limit = note.way == message_way::received;
        add((is_limit ? "up to " : "") + std::to_string(note.bytes) + " bytes");
    }
    if (note.requests >= 0) {
        add("of " + std::to_string(note.requests) +
            (note.requests == 1 ? " request" : " requests"));
    }
    return words;
}

std::int64_t bytes_of_buffer(const call_note& note) noexcept {
    if (note.type == MPI_DATATYPE_NULL || note.count < 0) {
        return -1;
    }
    int size = 0;
    PMPI_Type_size(note.type, &size);
    return note.count * std::max(size, 0);  // MPI_UNDEFINED: above 2 GiB
}

void complete_note(call_note& note) noexcept {
    note.bytes = bytes_of_buffer(note);
    if (note.comm != MPI_COMM_NULL && note.comm != MPI_COMM_WORLD && note.comm != MPI_COMM_SELF) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length = 0;
        PMPI_Comm_get_name(note.comm, name, &length);
        if (length > 0) {
            std::string_view(name).copy(note.comm_name.data(), note.comm_name.size() - 1);
        } else {
            int ranks = 0;
            PMPI_Comm_size(note.comm, &ranks);
            std::snprintf(note.comm_name.data(), note.comm_name.size(), "a communicator of %d",
                          ranks);
        }
    }
}

std::string describe(const call_note& note) {
    const std::string words = details_of(note);
    return words.empty() ? note.kind->name : std::string(note.kind->name) + ' ' + words;
}

}  // namespace quern::mpi::detail
