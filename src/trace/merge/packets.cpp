// SPDX-License-Identifier: BSL-1.0
// Decodes protobuf: variable-length integers, fields and packets; refuses what is none.
#include "merge/packets.hpp"

#include "export/perfetto_numbers.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quern::trace::detail {

namespace {

/// A longer packet is a sign of another format: the longest of ours have some kilobytes.
constexpr std::uint64_t k_longest_packet = 64U << 20U;

constexpr unsigned k_varint = 0;
constexpr unsigned k_eight_bytes = 1;
constexpr unsigned k_bytes = 2;
constexpr unsigned k_four_bytes = 5;

constexpr int k_first_byte = static_cast<int>(perfetto::trace_field::k_packet << 3U | k_bytes);

}  // namespace

bool fields::take_varint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (m_rest.empty()) {
            return fail();
        }
        const auto byte = static_cast<unsigned char>(m_rest.front());
        m_rest.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return fail();
}

bool fields::next(field& into) noexcept {
    if (m_rest.empty() || m_is_damaged) {
        return false;
    }
    const std::string_view all = m_rest;
    std::uint64_t key = 0;
    if (!take_varint(key)) {
        return false;
    }
    into = {.number = static_cast<std::uint32_t>(key >> 3U)};
    std::uint64_t length = 0;
    switch (key & 7U) {
        case k_varint:
            if (!take_varint(into.value)) {
                return false;
            }
            break;
        case k_bytes:
            if (!take_varint(length)) {
                return false;
            }
            break;
        case k_eight_bytes:
            into.is_fixed = true;
            length = 8;
            break;
        case k_four_bytes:
            length = 4;
            break;
        default:
            return fail();
    }
    if (length > m_rest.size()) {
        return fail();
    }
    into.bytes = m_rest.substr(0, length);
    m_rest.remove_prefix(length);
    for (unsigned i = 0; into.is_fixed && i < 8; ++i) {
        into.value |= std::uint64_t{static_cast<unsigned char>(into.bytes[i])} << (8 * i);
    }
    into.whole = all.substr(0, all.size() - m_rest.size());
    return true;
}

packet_reader::packet_reader(std::string path) : m_path(std::move(path)) {
    std::error_code failed;
    if (std::filesystem::is_directory(m_path, failed)) {
        refuse("is a folder; accepted: the traces themselves, such as run.*.pftrace");
    }
    errno = 0;
    m_file.open(m_path, std::ios::binary);
    if (!m_file) {
        refuse(std::string("cannot be read: ") + std::strerror(errno != 0 ? errno : EIO));
    }
}

void packet_reader::refuse(const std::string& why) const {
    throw std::runtime_error("'" + m_path + "' " + why);
}

int packet_reader::take() {
    const int byte = m_file.get();
    m_read += static_cast<std::uint64_t>(byte >= 0);
    return byte;
}

std::uint64_t packet_reader::take_length() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const int byte = take();
        if (byte < 0) {
            return ~std::uint64_t{0};
        }
        value |= std::uint64_t{static_cast<unsigned>(byte) & 0x7fU} << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    return k_longest_packet + 1;
}

bool packet_reader::next(std::string_view& packet) {
    const std::uint64_t begin = m_read;
    const int first = take();
    if (first < 0) {
        if (m_number == 0) {
            refuse("is empty: the run that was to write it may not have ended");
        }
        return false;
    }
    const auto refuse_truncated = [&] {
        refuse("is truncated: it ends within packet " + std::to_string(m_number + 1) +
               ", which begins at byte " + std::to_string(begin) +
               "; copy it again, or repeat the run");
    };
    if (first != k_first_byte) {
        refuse(m_number == 0
                   ? std::string("is no trace of Perfetto's format, as the setting trace writes it")
                   : "is damaged: at byte " + std::to_string(begin) + " no packet begins");
    }
    const std::uint64_t length = take_length();
    if (length == ~std::uint64_t{0}) {
        refuse_truncated();
    }
    if (length > k_longest_packet) {
        refuse("is damaged, or no trace of Quern: a packet at byte " + std::to_string(begin) +
               " has " + std::to_string(length) + " bytes");
    }
    m_packet.resize(length);
    m_file.read(m_packet.data(), static_cast<std::streamsize>(length));
    m_read += static_cast<std::uint64_t>(m_file.gcount());
    if (static_cast<std::uint64_t>(m_file.gcount()) != length) {
        refuse_truncated();
    }
    ++m_number;
    packet = m_packet;
    return true;
}

packet_parts parts_of(std::string_view packet) noexcept {
    namespace packet_field = perfetto::packet_field;
    packet_parts found;
    fields all(packet);
    for (field f; all.next(f);) {
        switch (f.number) {
            case packet_field::k_timestamp:
                found.at_ns = f.value;
                break;
            case packet_field::k_sequence:
                found.sequence = f.value;
                break;
            case packet_field::k_track_event:
                found.event = f.bytes;
                break;
            case packet_field::k_track_descriptor:
                found.track = f.bytes;
                break;
            case packet_field::k_interned_data:
                found.words = f.bytes;
                break;
            case packet_field::k_previous_dropped:
                found.has_dropped = true;
                break;
            default:
                break;
        }
    }
    found.is_damaged = all.is_damaged();
    return found;
}

}  // namespace quern::trace::detail
