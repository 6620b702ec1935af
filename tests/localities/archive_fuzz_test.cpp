// SPDX-License-Identifier: BSL-1.0
// Random changes of valid bytes, bytes of other types and random bytes: each is read as a value or
// refused. What has been read is written and read again. Meant for AddressSanitizer and UBSan.
// QUERN_FUZZ_SECONDS: how long (default: 300 inputs for each type); QUERN_FUZZ_SEED: the seed.
#include "allocated_bytes.hpp"
#include "archive_types.hpp"

#include <quern/localities/archive.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {

using quern::localities::archive_error;
using quern::localities::chunk_list;
using quern::localities::chunk_sink;
using quern::localities::reader;
using quern::localities::writer;
using namespace quern_test;
using bytes = std::vector<std::byte>;
using generator = std::mt19937_64;

constexpr std::size_t k_most_chunk_bytes = 1 << 20;

std::size_t below(generator& random, std::size_t limit) { return random() % limit; }

class filled final : public chunk_sink {
public:
    void expect(std::span<std::byte> into) override { m_places.push_back(into); }
    /// As if the chunks came now.
    void fill() {
        for (const auto place : m_places) {
            std::fill(place.begin(), place.end(), std::byte{0x55});
        }
    }

private:
    std::vector<std::span<std::byte>> m_places;
};

/// One change of the kind that catches mistakes: sizes, flags, lengths.
void change(bytes& of, generator& random) {
    const std::size_t at = below(random, of.size() + 1);
    const auto here = of.begin() + static_cast<std::ptrdiff_t>(at);
    const auto any = static_cast<std::byte>(random());
    switch (below(random, 8)) {
        case 0:
            of.insert(here, any);
            break;
        case 1:
            of.resize(at);
            break;
        case 2:
            if (here != of.end()) {
                of.erase(here);
            }
            break;
        case 3:
            if (of.size() >= at + 8) {
                const std::uint64_t size =
                    (std::uint64_t{1} << below(random, 64)) + below(random, 3) - 1;
                std::memcpy(of.data() + at, &size, sizeof size);
            }
            break;
        case 4:
            of.insert(of.end(), of.begin(), here);
            break;
        default:
            if (here != of.end()) {
                *here = below(random, 2) == 0 ? any : static_cast<std::byte>(below(random, 4));
            }
    }
}

template <class T>
bytes encoded(const T& value, chunk_list* chunks) {
    writer to(chunks);
    archive_detail::put_item(to, value);
    return {to.bytes().begin(), to.bytes().end()};
}

/// Whether the bytes hold a T; then also that it can be sent again.
template <class T>
bool survives(const bytes& from) {
    g_allocated = 0;
    try {
        filled sink;
        reader source(from, &sink, k_most_chunk_bytes);
        T value{};
        archive_detail::take_item(source, value);
        sink.fill();
        EXPECT_LT(g_allocated, 2 * k_most_chunk_bytes + 200 * from.size() + 100000);
        chunk_list chunks;
        const bytes again = encoded(value, &chunks);
        filled sink_again;
        reader second(again, &sink_again);
        T copy{};
        archive_detail::take_item(second, copy);
        sink_again.fill();
        EXPECT_TRUE(second.at_end());
        return true;
    } catch (const archive_error&) {
    } catch (const cereal::Exception&) {
    }
    EXPECT_LT(g_allocated, 2 * k_most_chunk_bytes + 200 * from.size() + 100000);
    return false;
}

/// A type: valid bytes of it, and the test of any bytes.
struct subject {
    const char* name;
    bytes (*make)(generator& random);
    bool (*survives)(const bytes& from);
};

std::string text(generator& random) {
    return std::string(below(random, 8) == 0 ? 20000 : below(random, 20), 'x');
}
std::vector<double> numbers(generator& random) {
    return std::vector<double>(below(random, 8) == 0 ? 3000 : below(random, 9), 1.5);
}
tree branches(generator& random, int depth) {
    tree made{depth, {}};
    for (std::size_t i = below(random, 4); depth > 0 && i > 0; --i) {
        made.branches.push_back(branches(random, depth - 1));
    }
    return made;
}

template <class T, auto Make>
subject of(const char* name) {
    return {name,
            [](generator& random) {
                chunk_list chunks;
                const T value = Make(random);
                return encoded(value, &chunks);
            },
            [](const bytes& from) { return survives<T>(from); }};
}

using choice = std::variant<std::monostate, int, std::string, std::vector<bool>, pixel>;
using by_name = std::map<std::string, std::optional<std::vector<double>>>;
using by_number = std::unordered_multimap<int, std::tuple<colour, switched, std::u16string>>;
using sets = std::pair<std::set<std::string>, std::multiset<std::vector<int>>>;
using sequences = std::tuple<std::list<nothing>, std::forward_list<pixel>, std::deque<std::string>,
                             std::vector<std::deque<bool>>>;
using shared = std::vector<std::pair<std::shared_ptr<int>, std::shared_ptr<tree>>>;
using functions = std::tuple<with_member, with_free, with_pair, std::vector<with_private>, field>;
using fixed = std::tuple<std::array<line, 2>, std::bitset<70>, std::complex<float>,
                         std::chrono::nanoseconds, long double, angle>;

const std::vector<subject>& subjects() {
    static const std::vector<subject> all{
        of<drawing,
           [](generator& r) {
               return drawing{text(r), std::vector<pixel>(below(r, 5)), {}, point{1, 2}};
           }>("an aggregate"),
        of<tree, [](generator& r) { return branches(r, 4); }>("a type that contains itself"),
        of<std::vector<std::vector<double>>,
           [](generator& r) {
               return std::vector<std::vector<double>>{numbers(r), numbers(r), numbers(r)};
           }>("vectors"),
        of<by_name,
           [](generator& r) {
               return by_name{{text(r), numbers(r)}, {"b", {}}, {"c", numbers(r)}};
           }>("a map"),
        of<by_number,
           [](generator& r) {
               return by_number{{1, {colour::blue, switched::on, u"a"}},
                                {static_cast<int>(below(r, 2)), {}}};
           }>("an unordered map"),
        of<sets,
           [](generator& r) {
               return sets{{text(r), "b"}, {{1}, {1}, {2, 3}}};
           }>("sets"),
        of<sequences,
           [](generator& r) {
               return sequences(std::list<nothing>(below(r, 9)), below(r, 3),
                                std::deque<std::string>{text(r), "b"},
                                std::vector<std::deque<bool>>{{true, false}, {}});
           }>("sequences"),
        of<std::vector<choice>,
           [](generator& r) {
               return std::vector<choice>{1, text(r), std::vector<bool>(below(r, 9)), pixel{}, {}};
           }>("variants"),
        of<shared,
           [](generator& r) {
               const auto one = std::make_shared<int>(1);
               const auto two = std::make_shared<tree>(branches(r, 2));
               return shared{{one, two}, {nullptr, two}, {one, nullptr}};
           }>("shared objects"),
        of<node,
           [](generator& r) {
               node first{1, nullptr};
               for (std::size_t i = below(r, 10); i != 0; --i) {
                   first = node{2, std::make_unique<node>(std::move(first))};
               }
               return first;
           }>("a chain of pointers"),
        of<functions,
           [](generator& r) {
               return functions(with_member(text(r)), with_free{{1, 2}}, with_pair(3U),
                                std::vector<with_private>(below(r, 4)), field{numbers(r)});
           }>("functions for serialisation"),
        of<fixed, [](generator&) { return fixed(); }>("values of fixed size"),
    };
    return all;
}

/// How many of so many inputs were values of the type.
int try_inputs(const subject& type, int inputs, generator& random) {
    int values = 0;
    for (int i = 0; i < inputs; ++i) {
        bytes from;
        if (below(random, 10) == 0) {
            from.resize(below(random, 200));
            std::generate(from.begin(), from.end(), [&] {
                return static_cast<std::byte>(below(random, 3) == 0 ? random() : below(random, 3));
            });
        } else if (below(random, 10) == 0) {
            from = subjects()[below(random, subjects().size())].make(random);
        } else {
            from = type.make(random);
            for (std::size_t changes = below(random, 4); changes > 0; --changes) {
                change(from, random);
            }
        }
        values += type.survives(from) ? 1 : 0;
    }
    return values;
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* const given = std::getenv(variable);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

// Holds: archive: Whatever the bytes are, they are read as a value or refused with an archive_error.
TEST(archive_fuzz, any_bytes_are_a_value_or_refused) {
    const std::uint64_t seed = number_of("QUERN_FUZZ_SEED", std::random_device{}());
    const auto seconds = std::chrono::seconds(number_of("QUERN_FUZZ_SECONDS", 0));
    std::printf("QUERN_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(seed));
    generator random(seed);
    const auto end = std::chrono::steady_clock::now() + seconds;
    std::map<std::string, std::pair<int, int>> values;  // and inputs
    do {
        for (const subject& type : subjects()) {
            constexpr int k_inputs = 300;
            const int decoded = try_inputs(type, k_inputs, random);
            ASSERT_FALSE(HasFailure()) << type.name;
            values[type.name].first += decoded;
            values[type.name].second += k_inputs;
        }
    } while (std::chrono::steady_clock::now() < end);
    for (const auto& [name, counts] : values) {
        std::printf("%s: %d of %d inputs were values\n", name.c_str(), counts.first, counts.second);
        EXPECT_GT(counts.first, 0) << name;
    }
}

}  // namespace
