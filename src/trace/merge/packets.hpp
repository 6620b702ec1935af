// SPDX-License-Identifier: BSL-1.0
// Reads what export/protobuf.hpp writes: the packets of a file one after the other, and the fields
// of a message. Private to the layer.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace quern::trace::detail {

struct field {
    std::uint32_t number = 0;
    bool is_fixed = false;     ///< of eight bytes
    std::uint64_t value = 0;   ///< of a number
    std::string_view bytes{};  ///< of a nested message, or text
    std::string_view whole{};  ///< as it stands in the message
};

/// The fields of a message in their order.
class fields {
public:
    explicit fields(std::string_view message) noexcept : m_rest(message) {}

    /// False at the end, and where the message is damaged.
    bool next(field& into) noexcept;
    bool is_damaged() const noexcept { return m_is_damaged; }

private:
    bool take_varint(std::uint64_t& value) noexcept;
    bool fail() noexcept {
        m_is_damaged = true;
        return false;
    }

    std::string_view m_rest;
    bool m_is_damaged = false;
};

/// What the fields of a packet say.
struct packet_parts {
    std::uint64_t at_ns = 0;
    std::uint64_t sequence = 0;
    std::string_view event{};
    std::string_view track{};  ///< a description of one
    std::string_view words{};  ///< that later packets of the sequence name by numbers
    bool has_dropped = false;  ///< events were lost before it
    bool is_damaged = false;
};

packet_parts parts_of(std::string_view packet) noexcept;

/// The packets of a file. Throws std::runtime_error, beginning with the path, for a file that
/// cannot be read, is no trace or ends within a packet.
class packet_reader {
public:
    explicit packet_reader(std::string path);

    /// Whether there is another one; valid until the next call.
    bool next(std::string_view& packet);

    /// Of the next packet.
    std::uint64_t number() const noexcept { return m_number; }
    std::uint64_t bytes_read() const noexcept { return m_read; }
    const std::string& path() const noexcept { return m_path; }
    [[noreturn]] void refuse(const std::string& why) const;

private:
    /// The next byte, or -1.
    int take();
    std::uint64_t take_length();

    std::string m_path;
    std::ifstream m_file;
    std::string m_packet;
    std::uint64_t m_number = 0;
    std::uint64_t m_read = 0;
};

}  // namespace quern::trace::detail
