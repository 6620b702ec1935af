// SPDX-License-Identifier: BSL-1.0
// Chunks: which contents become one, where they are received, and that a pointer to one stays valid
// when the object that has been read is moved.
#include "archive_types.hpp"

#include <quern/localities/archive.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {

using quern::localities::archive_error;
using quern::localities::chunk_list;
using quern::localities::chunk_sink;
using quern::localities::k_chunk_bytes;
using quern::localities::reader;
using quern::localities::writer;
using namespace quern_test;

class collected final : public chunk_sink {
public:
    void expect(std::span<std::byte> into) override { places.push_back(into); }
    std::vector<std::span<std::byte>> places;
};

constexpr std::size_t k_doubles = k_chunk_bytes / sizeof(double);
const std::vector<double> k_large(k_doubles, 1.5);
const std::vector<double> k_larger(2 * k_doubles, 2.5);
const std::vector<double> k_small(k_doubles - 1, 3.5);
const std::string k_text(k_chunk_bytes, 'x');

template <class T>
std::size_t chunks_of(const T& value) {
    chunk_list chunks;
    writer to(&chunks);
    archive_detail::write(to, value);
    return chunks.size();
}

/// Sends both the written bytes and the chunks. The chunks come when the object has been moved.
template <class T>
void arrives_in_chunks(const T& value, std::size_t expected) {
    chunk_list chunks;
    writer to(&chunks);
    archive_detail::write(to, value);
    ASSERT_EQ(chunks.size(), expected);
    EXPECT_LT(to.size(), 1000 + k_small.size() * sizeof(double));

    collected sink;
    reader from(to.bytes(), &sink);
    T read{};
    archive_detail::read(from, read);
    from.expect_end("a value");
    const T moved(std::move(read));
    ASSERT_EQ(sink.places.size(), expected);
    for (std::size_t i = 0; i < expected; ++i) {
        ASSERT_EQ(sink.places[i].size(), chunks[i].size);
        std::memcpy(sink.places[i].data(), chunks[i].data, chunks[i].size);
    }
    EXPECT_EQ(moved, value);
}

struct simulation {
    std::string name;
    std::array<std::vector<double>, 2> fields;
    std::optional<std::vector<point>> points;
    bool operator==(const simulation&) const = default;
};

// Holds: archive: Contents of 16 KiB of a vector or string are chunks, wherever it is, and arrive
// in an object that has been moved meanwhile.
TEST(archive_chunks, large_contents_travel_beside_the_bytes) {
    arrives_in_chunks(k_large, 1);
    arrives_in_chunks(k_text, 1);
    arrives_in_chunks(std::vector<std::vector<double>>(50, k_large), 50);
    arrives_in_chunks(std::vector<std::vector<double>>{k_large, k_small, {}, k_larger}, 2);
    arrives_in_chunks(std::map<int, std::vector<double>>{{1, k_large}, {2, {}}, {3, k_larger}}, 2);
    arrives_in_chunks(std::unordered_map<int, std::string>{{1, k_text}, {2, k_text + "y"}}, 2);
    arrives_in_chunks(std::optional<std::vector<double>>(k_large), 1);
    arrives_in_chunks(std::pair(k_text, k_text + "y"), 2);
    arrives_in_chunks(std::variant<int, std::string>(k_text), 1);
    arrives_in_chunks(std::deque<std::string>{"a", k_text}, 1);
    arrives_in_chunks(std::vector<line>(1000, line{{1, 2}}), 1);
    const std::vector<point> points(1024, point{1, 2});
    arrives_in_chunks(simulation{"a", {k_large, k_small}, points}, 2);
    arrives_in_chunks(std::vector<simulation>(3, simulation{"", {k_large, k_larger}, {}}), 6);
}

// Holds: archive: Smaller contents are copied, and all contents without a list of chunks.
TEST(archive_chunks, small_contents_are_copied) {
    EXPECT_EQ(chunks_of(k_small), 0U);
    EXPECT_EQ(chunks_of(std::string(k_chunk_bytes - 1, 'x')), 0U);
    EXPECT_EQ(sent(k_larger), k_larger);
}

// Holds: archive: Contents that are needed at once, or that others may change, are copied: keys,
// shared objects, elements that are copied when a vector grows, values with a bool.
TEST(archive_chunks, contents_that_are_needed_at_once_are_copied) {
    struct copied_when_growing {
        std::deque<int> first;  // its move constructor may throw
        std::vector<double> second;
    };
    static_assert(!std::is_nothrow_move_constructible_v<copied_when_growing>);
    EXPECT_EQ(chunks_of(std::set<std::string>{k_text, k_text + "y"}), 0U);
    EXPECT_EQ(chunks_of(std::map<std::vector<double>, int>{{k_large, 1}}), 0U);
    EXPECT_EQ(chunks_of(std::make_shared<std::vector<double>>(k_large)), 0U);
    EXPECT_EQ(chunks_of(copied_when_growing{{}, k_large}), 1U);
    EXPECT_EQ(chunks_of(std::vector<copied_when_growing>{{{}, k_large}}), 0U);
    EXPECT_EQ(chunks_of(std::vector<pixel>(1000)), 0U);
    EXPECT_EQ(sent(std::set<std::string>{k_text, k_text + "y"}).size(), 2U);
}

// Holds: archive: Contents inside of a type with functions for serialisation are copied, and are
// chunks if is_read_in_place is specialised for it.
TEST(archive_chunks, functions_for_serialisation_see_contents_unless_they_need_not) {
    EXPECT_EQ(chunks_of(with_member(k_text)), 0U);
    EXPECT_EQ(chunks_of(std::pair(with_member(k_text), k_text)), 1U);
    EXPECT_EQ(sent(with_member(k_text)), with_member(k_text));
    arrives_in_chunks(field{k_large}, 1);
    arrives_in_chunks(std::vector<field>{{k_large}, {k_small}, {k_larger}}, 2);
}

/// The bytes of a vector<double> that is a chunk of so many elements.
std::vector<std::byte> announcing(std::uint64_t count) {
    writer to;
    archive_detail::put_item(to, count | archive_detail::k_is_chunk);
    return {to.bytes().begin(), to.bytes().end()};
}

// Holds: archive: A chunk is refused without a sink, beyond the limit, below the least size, and
// where none can be.
TEST(archive_chunks, an_unexpected_chunk_is_refused) {
    const auto take = [](std::uint64_t count, auto value, chunk_sink* sink, std::size_t limit) {
        const std::vector<std::byte> bytes = announcing(count);
        reader from(bytes, sink, limit);
        archive_detail::take_item(from, value);
    };
    collected sink;
    const std::vector<double> vector;
    EXPECT_NO_THROW(take(k_doubles, vector, &sink, k_chunk_bytes));
    EXPECT_EQ(sink.places.size(), 1U);
    EXPECT_THROW(take(k_doubles, vector, nullptr, k_chunk_bytes), archive_error);
    EXPECT_THROW(take(k_doubles + 1, vector, &sink, k_chunk_bytes), archive_error);
    EXPECT_THROW(take(k_doubles - 1, vector, &sink, k_chunk_bytes), archive_error);
    EXPECT_THROW(take(std::uint64_t{1} << 62U, vector, &sink, k_chunk_bytes), archive_error);
    EXPECT_THROW(take(std::uint64_t{1} << 62U, vector, &sink, SIZE_MAX), archive_error);
    EXPECT_THROW(take(std::uint64_t{1} << 60U, vector, &sink, SIZE_MAX), archive_error);
    EXPECT_THROW(take(k_chunk_bytes, with_member(), &sink, k_chunk_bytes), archive_error);
    EXPECT_THROW(take(k_doubles, std::vector<bool>(), &sink, k_chunk_bytes), archive_error);
    EXPECT_THROW(take(k_doubles, std::list<double>(), &sink, k_chunk_bytes), archive_error);
    EXPECT_EQ(sink.places.size(), 1U);
}

// Holds: archive: A reader's limit is for all chunks together.
TEST(archive_chunks, the_limit_is_for_all_chunks_together) {
    chunk_list chunks;
    writer to(&chunks);
    archive_detail::write(to, std::pair(k_large, k_large));
    collected sink;
    std::pair<std::vector<double>, std::vector<double>> read;
    reader enough(to.bytes(), &sink, 2 * k_chunk_bytes);
    EXPECT_NO_THROW(archive_detail::read(enough, read));
    reader too_little(to.bytes(), &sink, 2 * k_chunk_bytes - 1);
    EXPECT_THROW(archive_detail::read(too_little, read), archive_error);
}

}  // namespace
