// SPDX-License-Identifier: BSL-1.0
// Bytes between the ranks of MPI_COMM_WORLD for a layer above, on a communicator of its own: posted
// by any thread, without waiting, and told when they have ended. The layer localities is the user.
// A port keeps receives posted for small messages; large ones go from memory to memory, under a tag
// that both sides know. Needs no <mpi.h>.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quern::mpi::detail {

/// What a port tells its user. Called outside of MPI by the thread that looks for messages, perhaps
/// by several threads at once; must not block, suspend or throw.
class port_user {
public:
    /// A small message has come. `bytes` are valid until the function returns.
    virtual void has_received(int from, std::span<const std::byte> bytes) noexcept = 0;

protected:
    ~port_user() = default;
};

/// What follows a message: called once, as port_user's functions.
struct port_action {
    void (*call)(void* argument) noexcept;
    void* argument;
};

/// An error of MPI in a message of a port ends the job, with words.
class message_port {
public:
    /// Keeps `receives` receives of up to `most_bytes` bytes posted. Collective over
    /// MPI_COMM_WORLD. Requires: MPI is initialised; a runtime lives, whose workers look for
    /// messages.
    message_port(port_user& user, std::size_t most_bytes, int receives);
    /// Requires: close() or abandon() has returned.
    ~message_port();
    message_port(const message_port&) = delete;
    message_port& operator=(const message_port&) = delete;

    int rank() const noexcept { return m_rank; }
    int size() const noexcept { return m_size; }

    /// Sends a small message, not an empty one. The bytes must stay as they are until `after` is
    /// called.
    void send(int to, std::span<const std::byte> bytes, port_action after) noexcept;

    /// Sends and receives large ones, of equal size on both sides, not empty. Tags are from 0 to
    /// largest_tag(); messages of one tag arrive in the order of their sending. The memory must
    /// stay until `after` is called.
    void send_large(int to, std::uint32_t tag, std::span<const std::byte> bytes,
                    port_action after) noexcept;
    void receive_large(int from, std::uint32_t tag, std::span<std::byte> into,
                       port_action after) noexcept;
    std::uint32_t largest_tag() const noexcept { return m_largest_tag; }

    /// Sums of all ranks, in place. Collective; suspends. By one caller of a rank at a time.
    void sum(std::span<std::uint64_t> values);

    /// Looks whether messages have ended or come, as a worker without a task does.
    void look() noexcept;

    /// Takes the posted receives back. Afterwards the port calls nothing any more. Collective.
    /// Requires: all messages have come.
    void close() noexcept;
    /// The same by one rank, for a job that ends by an error: messages are lost.
    void abandon() noexcept;

private:
    struct listeners;
    struct communicator;

    std::unique_ptr<communicator> m_comm;
    std::unique_ptr<listeners> m_listeners;
    int m_rank = 0;
    int m_size = 1;
    std::uint32_t m_largest_tag = 0;
};

}  // namespace quern::mpi::detail
