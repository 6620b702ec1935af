// SPDX-License-Identifier: BSL-1.0
// Bytes that do not hold what is read from them, and values that cannot be written. Memory is
// counted by operators new and delete of the test.
#include "allocated_bytes.hpp"
#include "archive_types.hpp"

#include <quern/localities/archive.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace {

using quern::localities::archive_error;
using quern::localities::reader;
using quern::localities::writer;
using namespace quern_test;
using bytes = std::vector<std::byte>;

/// Without the tags of checked archives, so that each byte is part of the value.
template <class T>
bytes encoded(const T& value) {
    writer to;
    archive_detail::put_item(to, value);
    return {to.bytes().begin(), to.bytes().end()};
}

/// Whether the bytes hold a T. Errors other than archive_error and cereal's are not caught.
template <class T>
bool decodes(const bytes& from) {
    reader source(from);
    T value{};
    try {
        archive_detail::take_item(source, value);
        return true;
    } catch (const archive_error&) {
    } catch (const cereal::Exception&) {
    }
    return false;
}

template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const archive_error& error) {
        return error.what();
    }
    return "no error";
}

template <class T>
void refuses_every_part_of(const T& value) {
    const bytes all = encoded(value);
    ASSERT_TRUE(decodes<T>(all));
    for (std::size_t size = 0; size < all.size(); ++size) {
        EXPECT_FALSE(
            decodes<T>(bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size))))
            << size << " of " << all.size() << " bytes";
    }
}

template <class T>
void survives_every_change_of(const T& value) {
    const bytes all = encoded(value);
    for (std::size_t at = 0; at < all.size(); ++at) {
        for (const int wrong : {0, 1, 2, 3, 0x7f, 0x80, 0xff}) {
            bytes changed = all;
            changed[at] = static_cast<std::byte>(wrong);
            decodes<T>(changed);
        }
    }
}

const drawing k_drawing{"a", {{}, {{1, 2}, colour::blue, true}}, {{1}, {0, 2}}, point{3, 4}};
using choice = std::variant<int, std::string, std::vector<bool>>;
const std::tuple<choice, std::map<std::string, std::optional<int>>, std::set<int>, tree> k_mixed{
    std::string("b"), {{"x", 1}, {"y", {}}}, {1, 2, 3}, {1, {{2, {}}, {3, {{4, {}}}}}}};

// Holds: archive: Bytes that end too early are an archive_error, wherever they end.
TEST(archive_errors, truncated_bytes_are_refused) {
    refuses_every_part_of(1.5);
    refuses_every_part_of(k_drawing);
    refuses_every_part_of(k_mixed);
    refuses_every_part_of(std::vector<std::string>{"a", "b"});
    refuses_every_part_of(std::pair(with_pair(1U), with_private(2)));
    refuses_every_part_of(std::list<nothing>(3));
}

// Holds: archive: Corrupted bytes are another value or an error, never undefined behaviour.
TEST(archive_errors, corrupted_bytes_do_no_harm) {
    survives_every_change_of(k_drawing);
    survives_every_change_of(k_mixed);
    survives_every_change_of(std::vector<std::string>{"a", "b"});
    survives_every_change_of(std::pair(with_pair(1U), with_private(2)));
    const auto shared = std::make_shared<int>(1);
    survives_every_change_of(std::tuple(shared, std::make_shared<std::string>("a"), shared));
    survives_every_change_of(std::vector<std::bitset<9>>(2));
}

// Holds: archive: An archive_error says where, what is wanted, and what is left.
TEST(archive_errors, an_error_says_where_and_what) {
    const bytes four = encoded(1);
    reader from(four);
    double number = 0;
    EXPECT_EQ(error_of([&] { from(number); }),
              "quern: localities: at byte 0 of 4: a value of type double of 8 bytes is wanted, "
              "4 bytes are left");
}

// Holds: archive: A bool is 0 or 1, also one of an enumeration, an array or an aggregate.
TEST(archive_errors, an_invalid_bool_is_refused) {
    const bytes two{std::byte{2}};
    EXPECT_FALSE(decodes<bool>(two));
    EXPECT_FALSE(decodes<switched>(two));
    EXPECT_FALSE((decodes<std::array<bool, 1>>(two)));
    EXPECT_FALSE(decodes<std::optional<int>>(two));
    EXPECT_FALSE(decodes<std::unique_ptr<int>>(two));
    bytes lit = encoded(pixel{});
    lit.back() = std::byte{2};
    EXPECT_FALSE(decodes<pixel>(lit));
}

// Holds: archive: A variant's number is that of an alternative.
TEST(archive_errors, an_invalid_alternative_is_refused) {
    EXPECT_FALSE(decodes<choice>(encoded(std::int32_t{3})));
    EXPECT_FALSE(decodes<choice>(encoded(std::int32_t{-1})));
    const bytes all = bytes_of(choice(1));
    bytes changed = all;
    changed.at(all.size() - 8) = std::byte{9};
    EXPECT_THROW(read_from<choice>(changed), archive_error);  // not cereal's exception
}

// Holds: archive: A shared object is found by a pointer of its own type alone.
TEST(archive_errors, a_shared_object_keeps_its_type) {
    using two = std::pair<std::shared_ptr<int>, std::shared_ptr<std::string>>;
    const auto object = std::make_shared<int>(1);
    EXPECT_TRUE((decodes<std::pair<std::shared_ptr<int>, std::shared_ptr<int>>>(
        encoded(std::pair(object, object)))));
    EXPECT_FALSE(decodes<two>(encoded(std::pair(object, object))));
}

// Holds: archive: A key that occurs twice is refused where keys are unique.
TEST(archive_errors, a_repeated_key_is_refused) {
    EXPECT_FALSE(decodes<std::set<int>>(encoded(std::multiset<int>{1, 1})));
    EXPECT_FALSE((decodes<std::map<int, int>>(encoded(std::multimap<int, int>{{1, 1}, {1, 2}}))));
}

// Holds: archive: A size that the bytes cannot hold allocates no memory for it.
TEST(archive_errors, a_wrong_size_allocates_nothing) {
    const auto allocates = [](auto of, std::uint64_t size) {
        bytes from = encoded(size);
        from.resize(1000);
        g_allocated = 0;
        EXPECT_FALSE(decodes<decltype(of)>(from)) << size;
        return g_allocated;
    };
    for (const std::uint64_t size :
         {std::uint64_t{993}, std::uint64_t{1} << 40U, ~std::uint64_t{0} >> 1U}) {
        EXPECT_LT(allocates(std::vector<double>(), size), 3000U);
        EXPECT_LT(allocates(std::vector<bool>(), size), 3000U);
        EXPECT_LT(allocates(std::string(), size), 3000U);
        EXPECT_LT(allocates(std::u32string(), size), 3000U);
        EXPECT_LT(allocates(std::list<line>(), size), 3000U);
        EXPECT_LT(allocates(std::deque<int>(), size), 3000U);
        EXPECT_LT(allocates(std::vector<nothing>(), size), 3000U);
        EXPECT_LT(allocates(std::map<int, int>(), size), 3000U);
        EXPECT_LT(allocates(std::vector<std::array<std::string, 100>>(), size), 50000U);
    }
    // One that the bytes could hold allocates no more than the elements that they do hold.
    EXPECT_LT(allocates(std::vector<std::array<std::string, 100>>(), 900), 50000U);
}

// Holds: archive: Items nested too deep are refused at both ends, before the stack overflows.
TEST(archive_errors, deep_nesting_is_refused) {
    node first;
    node* last = &first;
    for (int i = 0; i < 140; ++i) {
        last->next = std::make_unique<node>();
        last = last->next.get();
    }
    EXPECT_TRUE(decodes<node>(encoded(first)));
    for (int i = 0; i < 20; ++i) {
        last->next = std::make_unique<node>();
        last = last->next.get();
    }
    EXPECT_NE(error_of([&] { encoded(first); }).find("nested in one another"), std::string::npos);
    // A node, another one, and so on: 5 bytes each.
    bytes chain;
    for (int i = 0; i < 100000; ++i) {
        chain.insert(chain.end(), 4, std::byte{1});
        chain.push_back(std::byte{1});
    }
    EXPECT_FALSE(decodes<node>(chain));
}

// Holds: archive: expect_end() names how much was written and read.
TEST(archive_errors, what_is_left_is_reported) {
    const bytes all = encoded(std::pair(1, 2));
    reader from(all);
    int first = 0;
    from(first);
    EXPECT_EQ(from.left(), 4U);
    EXPECT_EQ(error_of([&] { from.expect_end("a pair"); }),
              "quern: localities: a pair: the sender wrote 8 bytes and the receiver read 4: their "
              "functions for serialisation differ");
}

// Holds: archive: With checks, a value is read as the type as which it was written.
TEST(archive_errors, another_type_is_refused_with_checks) {
    if constexpr (archive_detail::k_checked_archives) {
        const bytes all = bytes_of(1);
        const std::string error = error_of([&] { read_from<float>(all); });
        EXPECT_NE(error.find("type float of 4 bytes"), std::string::npos) << error;
        EXPECT_NE(error.find("another type, of 4 bytes"), std::string::npos) << error;
        EXPECT_THROW(read_from<unsigned>(all), archive_error);
        EXPECT_THROW(read_from<with_pair>(all), archive_error);
    } else {
        GTEST_SKIP() << "compiled without QUERN_CHECKED_ARCHIVES";
    }
}

// Holds: archive: A variant without a value is refused.
TEST(archive_errors, a_variant_without_a_value_is_refused) {
    struct throws {
        operator std::string() const { throw 1; }
    };
    std::variant<int, with_member> empty;
    EXPECT_THROW(empty.emplace<1>(throws()), int);
    ASSERT_TRUE(empty.valueless_by_exception());
    EXPECT_THROW(bytes_of(empty), archive_error);
}

}  // namespace
