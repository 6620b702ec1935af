// SPDX-License-Identifier: BSL-1.0
// The messages of a layer above, as operations of the engine that nothing waits for.
#include <quern/mpi/detail/message_port.hpp>

#include "calls/calls.hpp"
#include "progress/engine.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/blocks.hpp>

#include <sched.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace quern::mpi::detail {

namespace {

/// Of small messages. Large ones have those from 1 on.
constexpr int k_small_tag = 0;
/// MPI counts in int: a larger one is sent in pieces of one tag, which stay in order.
constexpr std::size_t k_largest_piece = std::size_t{1} << 30;

constexpr call_kind k_send{"a parcel's MPI_Isend"};
constexpr call_kind k_receive{"a parcel's MPI_Irecv"};
constexpr call_kind k_listen{"MPI_Irecv for parcels"};

/// The error handler has had its chance: a lost message would be waited for without end.
[[noreturn]] void end_job(const call_note& note, int code) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    PMPI_Error_string(code, text, &length);
    std::fprintf(stderr, "quern: %s failed: %s\n", describe(note).c_str(), text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

/// One message that a rank sends or receives; destroys itself at its end.
class port_message final : public operation, public quern::detail::in_blocks {
public:
    /// `open` counts it until its end has been told.
    port_message(const call_note& what, void* bytes, port_action after,
                 std::atomic<std::uint64_t>& open) noexcept
        : operation(what), m_bytes(bytes), m_after(after), m_open(open) {
        m_open.fetch_add(1, std::memory_order_relaxed);
    }

    bool begin() override {
        const int count = static_cast<int>(note.count);
        code =
            note.is_sent
                ? next::Isend(m_bytes, count, MPI_BYTE, note.peer, note.tag, note.comm, &request)
                : next::Irecv(m_bytes, count, MPI_BYTE, note.peer, note.tag, note.comm, &request);
        int is_done = 0;
        if (code == MPI_SUCCESS) {
            code = test_request(note, request, is_done, MPI_STATUS_IGNORE);
        }
        return is_done != 0 || code != MPI_SUCCESS;
    }

    void tell() noexcept override {
        if (code != MPI_SUCCESS) {
            end_job(note, code);
        }
        const port_action after = m_after;
        std::atomic<std::uint64_t>& open = m_open;
        delete this;
        after.call(after.argument);
        open.fetch_sub(1, std::memory_order_release);  // pairs with close
    }

private:
    ~port_message() = default;

    void* m_bytes;
    port_action m_after;
    std::atomic<std::uint64_t>& m_open;
};

/// The pieces of a large message that have not ended.
struct pieces_left final : quern::detail::in_blocks {
    std::atomic<std::size_t> count;
    port_action after;

    static void one_ended(void* self) noexcept {
        auto* const left = static_cast<pieces_left*>(self);
        if (left->count.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // pairs with itself
            const port_action last = left->after;
            delete left;
            last.call(last.argument);
        }
    }
};

/// The process ends without memory for a message: it would be lost otherwise.
// NOLINTBEGIN(bugprone-unhandled-exception-at-new)
void start_pieces(call_note what, std::byte* bytes, std::size_t size, port_action after,
                  std::atomic<std::uint64_t>& open) noexcept {
    const std::size_t pieces = (size + k_largest_piece - 1) / k_largest_piece;
    if (pieces > 1) {
        after = {pieces_left::one_ended, new pieces_left{{}, pieces, after}};
    }
    for (std::size_t at = 0; at < size; at += k_largest_piece) {
        what.count = static_cast<std::int64_t>(std::min(size - at, k_largest_piece));
        engine::of_process().start(*new port_message(what, bytes + at, after, open));
    }
}
// NOLINTEND(bugprone-unhandled-exception-at-new)

/// What the receives of a port share.
struct listening {
    std::atomic<int> posted{0};
    std::atomic<bool> ends{false};  ///< none is posted again; read inside the entrance
};

/// A receive that is posted again whenever a message has come.
class listener final : public operation {
public:
    listener(MPI_Comm comm, std::size_t most_bytes, port_user& user, listening& all)
        : operation({.kind = &k_listen.wait,
                     .peer = MPI_ANY_SOURCE,
                     .tag = k_small_tag,
                     .count = static_cast<std::int64_t>(most_bytes),
                     .type = MPI_BYTE,
                     .comm = comm,
                     .way = message_way::received}),
          m_user(user),
          m_all(all),
          m_bytes(most_bytes) {}
    ~listener() = default;

    /// Not tested at once: a flood of messages would make the caller receive all of them.
    bool begin() override {
        if (m_all.ends.load(std::memory_order_relaxed)) {  // the entrance orders it
            m_is_over = true;
            return true;
        }
        code = next::Irecv(m_bytes.data(), static_cast<int>(m_bytes.size()), MPI_BYTE, note.peer,
                           note.tag, note.comm, &request);
        return code != MPI_SUCCESS;
    }

    /// Ends it, unless it is about to begin and will see by itself that it ends. In the entrance.
    int cancel() noexcept {
        return request != MPI_REQUEST_NULL ? PMPI_Cancel(&request) : MPI_SUCCESS;
    }

    void has_ended(int error, const MPI_Status& result) override {
        code = error;
        int is_cancelled = 0;
        PMPI_Test_cancelled(&result, &is_cancelled);
        m_is_over = is_cancelled != 0;
        m_from = result.MPI_SOURCE;
        PMPI_Get_count(&result, MPI_BYTE, &m_count);
    }

    void tell() noexcept override {
        if (code != MPI_SUCCESS) {
            end_job(note, code);
        }
        if (m_is_over) {
            m_all.posted.fetch_sub(1, std::memory_order_release);  // pairs with take_back
            return;
        }
        const std::span<const std::byte> whole(m_bytes);
        m_user.has_received(m_from, whole.first(static_cast<std::size_t>(m_count)));
        engine::of_process().start(*this);
    }

private:
    port_user& m_user;
    listening& m_all;
    std::vector<std::byte> m_bytes;
    int m_from = 0;
    int m_count = 0;
    bool m_is_over = false;
};

}  // namespace

struct message_port::communicator {
    MPI_Comm handle = MPI_COMM_NULL;
    std::atomic<std::uint64_t> open{0};  ///< messages whose ends have not been told
};

struct message_port::listeners : listening {
    std::vector<std::unique_ptr<listener>> all;

    /// A receive that is cancelled ends, at the next look, cancelled or with a message.
    void take_back() noexcept {
        static constexpr call_kind kind{"MPI_Cancel"};
        run_plain({.kind = &kind.wait}, [this] {
            ends.store(true, std::memory_order_relaxed);
            for (const auto& each : all) {
                each->cancel();
            }
            return MPI_SUCCESS;
        });
        while (posted.load(std::memory_order_acquire) != 0) {  // pairs with listener::tell
            engine::of_process().look();
            ::sched_yield();
        }
    }
};

message_port::message_port(port_user& user, std::size_t most_bytes, int receives)
    : m_comm(std::make_unique<communicator>()), m_listeners(std::make_unique<listeners>()) {
    QUERN_ASSERT(is_shared(), "a message_port needs a runtime");
    MPI_Comm_dup(MPI_COMM_WORLD, &m_comm->handle);
    MPI_Comm_set_name(m_comm->handle, "quern::localities");
    MPI_Comm_rank(m_comm->handle, &m_rank);
    MPI_Comm_size(m_comm->handle, &m_size);
    int* bound = nullptr;
    int is_known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &is_known);
    constexpr int k_least_bound = 32767;  // what the standard promises
    m_largest_tag = static_cast<std::uint32_t>((is_known != 0 ? *bound : k_least_bound) - 1);
    for (int i = 0; i < receives; ++i) {
        m_listeners->all.push_back(
            std::make_unique<listener>(m_comm->handle, most_bytes, user, *m_listeners));
        m_listeners->posted.fetch_add(1, std::memory_order_relaxed);
    }
    for (const auto& each : m_listeners->all) {
        engine::of_process().start(*each);
    }
}

message_port::~message_port() = default;

void message_port::send(int to, std::span<const std::byte> bytes, port_action after) noexcept {
    start_pieces({.kind = &k_send.wait,
                  .is_sent = true,
                  .peer = to,
                  .tag = k_small_tag,
                  .type = MPI_BYTE,
                  .comm = m_comm->handle,
                  .way = message_way::sent},
                 const_cast<std::byte*>(bytes.data()), bytes.size(), after,  // MPI only reads it
                 m_comm->open);
}

void message_port::send_large(int to, std::uint32_t tag, std::span<const std::byte> bytes,
                              port_action after) noexcept {
    start_pieces({.kind = &k_send.wait,
                  .is_sent = true,
                  .peer = to,
                  .tag = static_cast<int>(tag) + 1,
                  .type = MPI_BYTE,
                  .comm = m_comm->handle,
                  .way = message_way::sent},
                 const_cast<std::byte*>(bytes.data()), bytes.size(), after,  // MPI only reads it
                 m_comm->open);
}

void message_port::receive_large(int from, std::uint32_t tag, std::span<std::byte> into,
                                 port_action after) noexcept {
    start_pieces({.kind = &k_receive.wait,
                  .peer = from,
                  .tag = static_cast<int>(tag) + 1,
                  .type = MPI_BYTE,
                  .comm = m_comm->handle,
                  .way = message_way::received},
                 into.data(), into.size(), after, m_comm->open);
}

void message_port::sum(std::span<std::uint64_t> values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T,
                  MPI_SUM, m_comm->handle);
}

void message_port::look() noexcept { engine::of_process().look(); }

/// What has arrived at the other side may not have been seen to have ended here.
void message_port::close() noexcept {
    while (m_comm->open.load(std::memory_order_acquire) != 0) {  // pairs with port_message::tell
        engine::of_process().look();
        ::sched_yield();
    }
    m_listeners->take_back();
    MPI_Comm_free(&m_comm->handle);
}

void message_port::abandon() noexcept { m_listeners->take_back(); }

}  // namespace quern::mpi::detail
