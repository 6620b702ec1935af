// SPDX-License-Identifier: BSL-1.0
// Values written and read again: types of the standard library, types with functions for
// serialisation, aggregates without. Some headers of cereal that programs include are here too:
// their functions for containers must not compete with those of the archive.
#include "archive_types.hpp"

#include <quern/localities/archive.hpp>

#include <gtest/gtest.h>
#include <cereal/types/array.hpp>
#include <cereal/types/bitset.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/forward_list.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/queue.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/valarray.hpp>
#include <cereal/types/vector.hpp>

#include <chrono>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace {

using quern::localities::can_travel;
using namespace quern_test;
using namespace std::chrono_literals;

template <class T>
void expect_same(const T& value) {
    EXPECT_EQ(sent(value), value);
}

// Holds: archive: A number, an enumeration and a bool arrive as they were sent.
TEST(archive, numbers_arrive_unchanged) {
    expect_same(true);
    expect_same('x');
    expect_same(std::numeric_limits<std::int64_t>::min());
    expect_same(std::numeric_limits<std::uint64_t>::max());
    expect_same(1.0 / 3);
    expect_same(1.0L / 3);
    expect_same(std::byte{7});
    expect_same(colour::blue);
    expect_same(switched::on);
}

// Holds: archive: A string of each character type arrives, also an empty one and one with zeros.
TEST(archive, strings_arrive_unchanged) {
    expect_same(std::string());
    expect_same(std::string("a\0b", 3));
    expect_same(std::string(100000, 'x'));
    expect_same(std::u16string(u"Grüße"));
    expect_same(std::u32string(U"∫"));
    expect_same(std::wstring(L"wide"));
}

// Holds: archive: Each sequence arrives with its elements in order, also nested and empty ones.
TEST(archive, sequences_arrive_unchanged) {
    expect_same(std::vector<int>());
    expect_same(std::vector<int>{1, 2, 3});
    expect_same(std::vector<bool>{true, false, true});
    expect_same(std::vector<std::vector<std::string>>{{}, {"a", ""}, {"b"}});
    expect_same(std::deque<std::string>{"a", "b"});
    expect_same(std::list<std::vector<int>>{{1}, {}});
    expect_same(std::forward_list<double>{1, 2, 3});
    expect_same(std::array<int, 3>{1, 2, 3});
    expect_same(std::array<std::string, 2>{"a", "b"});
    expect_same(std::array<bool, 2>{true, false});
    expect_same(std::array<int, 0>());
}

// Holds: archive: Each associative container arrives with its elements, equal keys in order.
TEST(archive, associative_containers_arrive_unchanged) {
    expect_same(std::set<std::string>{"b", "a"});
    expect_same(std::set<int, std::greater<>>{1, 2, 3});
    expect_same(std::multiset<int>{1, 1, 2});
    expect_same(std::map<std::string, std::vector<double>>{{"a", {1}}, {"b", {}}});
    expect_same(std::multimap<int, std::string>{{1, "z"}, {1, "a"}});
    expect_same(std::unordered_set<int>{1, 2, 3});
    expect_same(std::unordered_multiset<int>{1, 1});
    expect_same(std::unordered_map<std::string, point>{{"a", {1, 2}}});
    expect_same(std::unordered_multimap<int, int>{{1, 2}, {1, 2}});
}

// Holds: archive: pair, tuple, optional, variant, complex, bitset and chrono arrive.
TEST(archive, other_types_of_the_standard_library_arrive_unchanged) {
    expect_same(std::pair<int, std::string>{1, "a"});
    expect_same(std::tuple<int, std::vector<int>, std::tuple<>>{1, {2}, {}});
    expect_same(std::optional<std::string>());
    expect_same(std::optional<std::string>("a"));
    expect_same(std::optional<bool>(false));
    using one_of = std::variant<std::monostate, int, std::string>;
    expect_same(one_of());
    expect_same(one_of("a"));
    expect_same(std::complex<double>(1, 2));
    expect_same(std::vector<std::complex<float>>{{1, 2}, {3, 4}});
    expect_same(std::bitset<3>("101"));
    expect_same(std::bitset<100>("1").set(99));
    expect_same(5ms);
    expect_same(std::chrono::system_clock::time_point(5s));
}

// Holds: archive: A type of another header of cereal travels by that header's functions.
TEST(archive, further_headers_of_cereal_work) {
    static_assert(can_travel<std::queue<int>>);
    expect_same(std::queue<int>({1, 2}));
    const std::valarray<double> numbers{1, 2, 3};
    EXPECT_EQ((sent(numbers) == numbers).min(), true);
    std::priority_queue<int> largest;
    largest.push(1);
    largest.push(3);
    largest.push(2);
    EXPECT_EQ(sent(largest).top(), 3);
}

// Holds: archive: A unique_ptr arrives with an object of its own, a null one null.
TEST(archive, unique_pointers_arrive_with_their_objects) {
    std::unique_ptr<const std::string> text = std::make_unique<std::string>("a");
    EXPECT_EQ(*sent<std::unique_ptr<std::string>>(std::make_unique<std::string>("a")), "a");
    EXPECT_EQ(*sent(text), "a");
    EXPECT_EQ(sent(std::unique_ptr<int>()), nullptr);
    std::vector<std::unique_ptr<int>> several;
    several.push_back(std::make_unique<int>(1));
    several.push_back(nullptr);
    const auto arrived = sent(several);
    EXPECT_EQ(*arrived.at(0), 1);
    EXPECT_EQ(arrived.at(1), nullptr);
}

// Holds: archive: Several shared_ptr to one object arrive as several shared_ptr to one object.
TEST(archive, shared_objects_stay_shared) {
    const auto object = std::make_shared<std::string>("a");
    const std::vector<std::shared_ptr<std::string>> all{object, nullptr, object};
    const auto arrived = sent(all);
    EXPECT_EQ(*arrived.at(0), "a");
    EXPECT_EQ(arrived[0], arrived[2]);
    EXPECT_EQ(arrived[1], nullptr);
    EXPECT_EQ(arrived[0].use_count(), 2);
    const auto pair = sent(std::pair(object, std::weak_ptr<std::string>(object)));
    EXPECT_EQ(pair.first, pair.second.lock());
}

// Holds: archive: An object and its first member, at one address, arrive as two objects.
TEST(archive, a_shared_member_is_not_taken_for_its_owner) {
    const auto owner = std::make_shared<point>(point{1, 2});
    const std::shared_ptr<double> member(owner, &owner->x);
    const auto arrived = sent(std::pair(owner, member));
    EXPECT_EQ(arrived.first->y, 2);
    EXPECT_EQ(*arrived.second, 1);
}

// Holds: archive: An aggregate without functions arrives, with nested ones, arrays and itself.
TEST(archive, aggregates_arrive_member_by_member) {
    expect_same(point{1, 2});
    expect_same(pixel{{1, 2}, colour::green, true});
    expect_same(nothing());
    expect_same(std::vector<nothing>(1000));
    expect_same(drawing{"a", {{}, {{1, 2}, colour::blue, true}}, {{1}, {0, 2}}, point{3, 4}});
    expect_same(std::map<int, std::vector<drawing>>{{1, {{}, {"a", {}, {}, {}}}}});
    expect_same(tree{1, {{2, {}}, {3, {{4, {}}}}}});
    node first{1, std::make_unique<node>()};
    first.next->value = 2;
    EXPECT_EQ(sent(first).next->value, 2);
}

// Holds: archive: An over-aligned type arrives, in containers too.
TEST(archive, over_aligned_types_arrive_unchanged) {
    expect_same(line{{1, 2}});
    expect_same(std::vector<line>{{}, {{3}}});
    expect_same(std::map<char, line>{{'a', {{4}}}});
}

// Holds: archive: A trivially copyable class without functions is copied as its bytes.
TEST(archive, trivially_copyable_classes_are_copied) {
    static_assert(!std::is_aggregate_v<angle>);
    expect_same(angle(1.5));
    expect_same(std::vector<angle>{angle(1), angle(2)});
}

// Holds: archive: Member, free and private functions for serialisation are used, and pairs of them.
TEST(archive, functions_for_serialisation_are_used) {
    expect_same(with_member("a"));
    expect_same(with_free{{1, 2}});
    expect_same(with_pair(3U));
    expect_same(with_private(4));
    expect_same(std::vector<with_private>{with_private(1), with_private(2)});
    expect_same(std::map<int, with_pair>{{1, with_pair(2U)}});
    EXPECT_EQ(sent(std::vector<with_empty_function>(70000)).size(), 70000U);
}

// Holds: archive: An aggregate with a function for serialisation uses it.
TEST(archive, functions_go_before_taking_apart) {
    int number = 0;
    const with_own_choice arrived = sent(with_own_choice{1, &number});
    EXPECT_EQ(arrived.sent, 1);
    EXPECT_EQ(arrived.kept_here, nullptr);
}

// Holds: archive: can_travel is true for what can be sent, false for pointers, references, views and
// types with one of them.
TEST(archive, can_travel_tells_what_can_be_sent) {
    struct has_pointer {
        int number;
        const char* text;
    };
    struct derived : point {
        int more;
    };
    static_assert(can_travel<int> && can_travel<drawing> && can_travel<tree> && can_travel<node>);
    static_assert(can_travel<std::vector<std::map<int, with_pair>>>);
    static_assert(!can_travel<int*> && !can_travel<int&> && !can_travel<void (*)()>);
    static_assert(!can_travel<has_pointer> && !can_travel<std::vector<has_pointer>>);
    static_assert(!can_travel<std::map<int, std::optional<has_pointer>>>);
    static_assert(!can_travel<std::string_view> && !can_travel<std::reference_wrapper<int>>);
    static_assert(!can_travel<std::vector<int>::iterator> && !can_travel<std::function<void()>>);
    static_assert(!can_travel<std::unique_ptr<int[]>> &&
                  !can_travel<std::unique_ptr<std::exception>>);
    static_assert(!can_travel<derived> && !can_travel<std::pair<const int, int>>);
    SUCCEED();
}

// Holds: archive: Values without padding that are copied as bytes have a size known beforehand.
TEST(archive, sizes_of_plain_values_are_known_beforehand) {
    using quern::localities::detail::k_fixed_size;
    static_assert(k_fixed_size<std::string> == 0 && k_fixed_size<int, std::vector<int>> == 0);
    EXPECT_EQ((k_fixed_size<int, double, point>), bytes_of(1, 2.0, point{}).size());
    EXPECT_EQ((k_fixed_size<bool, pixel, switched>), bytes_of(true, pixel{}, switched::on).size());
    EXPECT_EQ((k_fixed_size<std::pair<int, char>>), bytes_of(std::pair(1, 'a')).size());
}

// Holds: archive: Bytes beyond the first 256 move to the heap and stay in order.
TEST(archive, a_writer_grows) {
    quern::localities::writer to;
    for (int i = 0; i < 1000; ++i) {
        to(i);
    }
    EXPECT_EQ(to.size(), 4000U);
    quern::localities::reader from(to.bytes());
    for (int i = 0; i < 1000; ++i) {
        int number = -1;
        from(number);
        ASSERT_EQ(number, i);
    }
    EXPECT_TRUE(from.at_end());
}

}  // namespace
