// SPDX-License-Identifier: BSL-1.0
// The two archives, as cereal sees them: writer makes bytes of values, reader makes values of bytes
// and trusts none of them. How each type is written is in encoding.hpp and pointers.hpp.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/chunks.hpp>
#include <quern/localities/detail/stop_tokens.hpp>

#include <cereal/cereal.hpp>
#include <cereal/details/util.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace quern::localities {

/// Bytes that do not hold what is read from them, or a value that cannot be written. what() is
/// "quern: localities: at byte 8 of 12: a value of type double of 8 bytes is wanted, 4 bytes
/// are left".
class archive_error : public std::runtime_error {
public:
    explicit archive_error(const std::string& what)
        : std::runtime_error("quern: localities: " + what) {}
};

namespace detail {

/// Before the contents of a chunked container: its size with this bit.
inline constexpr std::uint64_t k_is_chunk = std::uint64_t{1} << 63U;

/// How many items may be nested in one another. Each needs stack at both ends, and corrupted bytes
/// must not overflow the reader's. Measured with gcc 12 on chains of pointers, vectors, maps,
/// variants and tuples: 40-120 bytes of stack an item, 240-510 without optimisation, 730 at most
/// with AddressSanitizer. So 300 take 36 KiB, or 220 KiB, of a task's 512 KiB.
inline constexpr int k_deepest = 300;

namespace encoding {
/// Base class of the archives, so that cereal finds the functions of its namespace.
struct anchor {};
}  // namespace encoding

/// What both archives know of the items that are open.
class nesting {
public:
    bool may_chunk() const noexcept { return m_without_chunks == 0; }

    /// Each call of forbid_chunks() needs one of allow_chunks().
    void forbid_chunks() noexcept { ++m_without_chunks; }
    void allow_chunks() noexcept { --m_without_chunks; }

    void enter() {
        if (++m_depth > k_deepest) {
            throw archive_error("more than " + std::to_string(k_deepest) +
                                " items are nested in one another: send a container of nodes "
                                "instead of a chain of pointers");
        }
    }
    void leave() noexcept { --m_depth; }

private:
    int m_depth = 0;
    int m_without_chunks = 0;
};

/// The numbers of shared objects that have been written. An object is known by address and type:
/// a first member has the address of its owner.
class shared_written {
public:
    /// Its number, and whether this is its first time.
    std::pair<std::uint32_t, bool> find_or_add(std::shared_ptr<const void> object,
                                               const std::type_info& type) {
        const auto [at, is_new] =
            m_numbers.try_emplace({object.get(), std::type_index(type)},
                                  static_cast<std::uint32_t>(m_numbers.size() + 1));
        if (is_new) {
            m_kept.push_back(std::move(object));
        }
        return {at->second, is_new};
    }

private:
    std::map<std::pair<const void*, std::type_index>, std::uint32_t> m_numbers;
    std::vector<std::shared_ptr<const void>> m_kept;  // so that their addresses stay theirs
};

/// The shared objects that have been read, by number.
class shared_read {
public:
    std::size_t count() const noexcept { return m_objects.size(); }
    void add(std::shared_ptr<void> object, const std::type_info& type) {
        m_objects.push_back({std::move(object), &type});
    }
    /// Null: there is no object of that type with that number.
    std::shared_ptr<void> find(std::uint32_t number, const std::type_info& type) const {
        if (number == 0 || number > m_objects.size() || *m_objects[number - 1].type != type) {
            return nullptr;
        }
        return m_objects[number - 1].object;
    }

private:
    struct known {
        std::shared_ptr<void> object;
        const std::type_info* type;
    };
    std::vector<known> m_objects;
};

}  // namespace detail

/// Encodes values into bytes, in the byte order and the sizes of this machine. An output archive of
/// cereal: functions for serialisation get it as their archive. The first 256 bytes lie in the
/// object itself. With a chunk_list, large contents of vectors and strings are not copied but noted
/// there; they must live until they have been sent.
///
///     quern::localities::writer to;
///     to(1, std::string("two"));
///     send(to.bytes());
///
/// Errors: archive_error for what cannot be written: a variant without a value, items nested more
/// than 300 deep. After an exception its bytes must not be used. Thread safety: one thread at a
/// time.
class writer : public cereal::OutputArchive<writer, cereal::AllowEmptyClassElision>,
               public detail::encoding::anchor {
public:
    explicit writer(chunk_list* chunks = nullptr) noexcept
        : cereal::OutputArchive<writer, cereal::AllowEmptyClassElision>(this), m_chunks(chunks) {}
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    /// Valid until more is written.
    std::span<const std::byte> bytes() const noexcept { return {m_bytes, m_size}; }
    std::size_t size() const noexcept { return m_size; }

    /// Room for so many more bytes.
    void reserve(std::size_t more) {
        if (m_capacity - m_size < more) [[unlikely]] {
            grow(more);
        }
    }

    /// Appends bytes as they are.
    void put(const void* data, std::size_t size) {
        reserve(size);
        if (size != 0) {
            std::memcpy(m_bytes + m_size, data, size);
        }
        m_size += size;
    }

    /// For the encoding of types. Not for programs.
    detail::nesting& open_items() noexcept { return m_open; }
    detail::shared_written& shared_objects() {
        if (!m_shared) {
            m_shared = std::make_unique<detail::shared_written>();
        }
        return *m_shared;
    }
    /// Whether contents of this size become a chunk.
    bool makes_chunk(std::size_t size) const noexcept {
        return m_chunks != nullptr && size >= k_chunk_bytes && m_open.may_chunk();
    }
    void put_chunk(const void* data, std::size_t size) {
        m_chunks->push_back({static_cast<const std::byte*>(data), size});
    }
    /// From now on what is written are arguments of a call: their stop tokens are noted there.
    void note_tokens_in(detail::token_list& list) noexcept { m_tokens = &list; }
    std::uint32_t note_token(const std::stop_token& one) {
        if (m_tokens == nullptr) {
            throw archive_error(
                "a stop token is written that is no argument of a call; accepted: as an argument "
                "of run_at, post_to, object::call or object::post");
        }
        return m_tokens->add(one);
    }

private:
    static constexpr std::size_t k_inline = 256;  // bytes; a guess: a call with a few arguments

    QUERN_COLD void grow(std::size_t more) {
        const std::size_t capacity = std::max(m_size + more, 2 * m_capacity);
        std::unique_ptr<std::byte[]> larger(new std::byte[capacity]);
        std::memcpy(larger.get(), m_bytes, m_size);
        m_heap = std::move(larger);
        m_bytes = m_heap.get();
        m_capacity = capacity;
    }

    std::byte* m_bytes = m_inline;
    std::size_t m_size = 0;
    std::size_t m_capacity = k_inline;
    chunk_list* m_chunks;
    detail::token_list* m_tokens = nullptr;
    detail::nesting m_open;
    std::unique_ptr<std::byte[]> m_heap;
    std::unique_ptr<detail::shared_written> m_shared;
    std::byte m_inline[k_inline];  // not initialised
};

/// Decodes values from bytes that a writer of the same program has made. An input archive of
/// cereal. The bytes must live as long as it. Every size, and every value of a type with invalid
/// representations, is checked before it is used: corrupted bytes cause an archive_error or are
/// another value. A wrong size allocates no more memory than a few times the bytes that are left.
/// Not checked: a bool in a class with private members that is copied as bytes, and whether a
/// number is an enumerator.
///
///     quern::localities::reader from(received);
///     int one = 0;
///     std::string two;
///     from(one, two);
///     from.expect_end("a pair");
///
/// `sink` is told where chunks must be received; without one, a chunk is an archive_error.
/// `most_chunk_bytes` bounds what the bytes may claim chunks to have, all together.
/// Errors: archive_error; std::bad_alloc; cereal::Exception from its own operators. After an
/// exception it must not be used, and what was being read has an unspecified value. Thread safety:
/// one thread at a time.
class reader : public cereal::InputArchive<reader, cereal::AllowEmptyClassElision>,
               public detail::encoding::anchor {
public:
    explicit reader(std::span<const std::byte> bytes, chunk_sink* sink = nullptr,
                    std::size_t most_chunk_bytes = std::numeric_limits<std::size_t>::max() / 4)
        : cereal::InputArchive<reader, cereal::AllowEmptyClassElision>(this),
          m_next(bytes.data()),
          m_left(bytes.size()),
          m_all(bytes.size()),
          m_sink(sink),
          m_chunk_bytes_left(most_chunk_bytes) {}
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;

    bool at_end() const noexcept { return m_left == 0; }
    /// Bytes that have not been read.
    std::size_t left() const noexcept { return m_left; }
    std::size_t offset() const noexcept { return m_all - m_left; }

    /// Copies the next bytes. `type`, for the error: what they are.
    void take(void* into, std::size_t size, const std::type_info& type) {
        if (size > m_left) [[unlikely]] {
            fail_short(size, type);
        }
        if (size != 0) {
            std::memcpy(into, m_next, size);
        }
        m_next += size;
        m_left -= size;
    }

    /// Throws archive_error if bytes are left. `what` was read: "the arguments of a call".
    void expect_end(const char* what) const {
        if (m_left != 0) [[unlikely]] {
            throw archive_error(std::string(what) + ": the sender wrote " + std::to_string(m_all) +
                                " bytes and the receiver read " + std::to_string(offset()) +
                                ": their functions for serialisation differ");
        }
    }

    /// For the encoding of types. Not for programs.
    detail::nesting& open_items() noexcept { return m_open; }
    detail::shared_read& shared_objects() noexcept { return m_shared; }
    std::uint64_t take_size() {
        std::uint64_t size = 0;
        take(&size, sizeof size, typeid(size));
        return size;
    }
    /// A number of elements each of which has at least `least` bytes.
    std::size_t checked_count(std::uint64_t count, std::size_t least) const {
        if (count > m_left / least) [[unlikely]] {
            fail(std::to_string(count) + " elements of at least " + std::to_string(least) +
                 (least == 1 ? " byte" : " bytes") + " are announced, " + std::to_string(m_left) +
                 " bytes are left");
        }
        return static_cast<std::size_t>(count);
    }
    /// The number of elements of a chunk, before memory for it is allocated.
    std::size_t checked_chunk(std::uint64_t marked, std::size_t each);
    void expect_chunk(void* into, std::size_t size) {
        m_sink->expect({static_cast<std::byte*>(into), size});
    }
    void take_tokens_from(detail::token_source& call) noexcept { m_tokens = &call; }
    /// `written`: by note_token().
    std::stop_token token_of(std::uint32_t written) const {
        if (written == detail::k_never_stopped) {
            return {};
        }
        if (written == detail::k_was_stopped) {
            std::stop_source stopped;
            stopped.request_stop();
            return stopped.get_token();
        }
        if (m_tokens == nullptr) {
            fail("a stop token is read that is no argument of a call");
        }
        return m_tokens->token(written - detail::k_first_token);
    }
    [[noreturn]] QUERN_COLD void fail(const std::string& what) const {
        throw archive_error("at byte " + std::to_string(offset()) + " of " + std::to_string(m_all) +
                            ": " + what);
    }

private:
    [[noreturn]] QUERN_COLD void fail_short(std::size_t size, const std::type_info& type) const {
        fail("a value of type " + cereal::util::demangle(type.name()) + " of " +
             std::to_string(size) + " bytes is wanted, " + std::to_string(m_left) +
             " bytes are left");
    }

    const std::byte* m_next;
    std::size_t m_left;
    std::size_t m_all;
    chunk_sink* m_sink;
    detail::token_source* m_tokens = nullptr;
    std::size_t m_chunk_bytes_left;
    detail::nesting m_open;
    detail::shared_read m_shared;
};

inline std::size_t reader::checked_chunk(std::uint64_t marked, std::size_t each) {
    const std::uint64_t count = marked & ~detail::k_is_chunk;
    if (m_sink == nullptr || !m_open.may_chunk()) {
        fail("a chunk is announced where none can be");
    }
    if (count > m_chunk_bytes_left / each) {
        fail("a chunk of " + std::to_string(count) + " elements of " + std::to_string(each) +
             " bytes is announced, at most " + std::to_string(m_chunk_bytes_left) +
             " bytes of chunks can come");
    }
    const std::size_t size = static_cast<std::size_t>(count) * each;
    if (size < k_chunk_bytes) {
        fail("a chunk of " + std::to_string(size) + " bytes is announced, the smallest has " +
             std::to_string(k_chunk_bytes));
    }
    m_chunk_bytes_left -= size;
    return static_cast<std::size_t>(count);
}

}  // namespace quern::localities

CEREAL_SETUP_ARCHIVE_TRAITS(quern::localities::reader, quern::localities::writer)
