// SPDX-License-Identifier: BSL-1.0
// Values of all kinds and sizes, there and back: small ones, which travel in a message with others,
// large contents, which travel from object to object, and many small parts that fill no message.
#include "on_job.hpp"

#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::run_at;

class localities_values : public on_job {};

constexpr std::size_t k_mega = std::size_t{1} << 20U;
constexpr std::size_t k_chunk = 16384;  // as in detail/chunks.hpp

template <class T>
T same(T value) {
    return value;
}

/// There and back: as an argument and as a result.
template <class T>
void expect_echo(const T& value) {
    EXPECT_TRUE(run_at(next_locality(), &same<T>, value).get() == value);
}

std::vector<double> numbers(std::size_t count) {
    std::vector<double> all(count);
    std::iota(all.begin(), all.end(), 0.5);
    return all;
}

/// No two parts of it are alike.
std::string text_of(std::size_t size) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) {
        text += std::to_string(i);
    }
    text.resize(size);
    return text;
}

struct place {
    std::string name;
    std::vector<std::pair<int, double>> samples;
    std::optional<int> zone;
    bool operator==(const place&) const = default;
};

class counter {
public:
    counter() = default;
    explicit counter(std::string name, std::vector<int> values)
        : m_name(std::move(name)), m_values(std::move(values)) {}
    bool operator==(const counter&) const = default;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_name, m_values);
    }

private:
    std::string m_name;
    std::vector<int> m_values;
};

// Holds: run_at: Arguments and results arrive as they were sent: numbers, strings, containers,
// aggregates and classes with functions for serialisation, in any combination.
TEST_P(localities_values, values_of_many_types_arrive_as_they_were_sent) {
    expect_echo(true);
    expect_echo(-7);
    expect_echo(1.0 / 3);
    expect_echo(std::string("text"));
    expect_echo(std::string());
    expect_echo(std::vector<int>{});
    expect_echo(std::vector<bool>{true, false, true});
    expect_echo(std::vector<std::vector<double>>{{1, 2}, {}, {3}});
    expect_echo(std::map<std::string, std::vector<int>>{{"a", {1, 2}}, {"b", {}}});
    expect_echo(std::tuple(1, std::string("b"), 2.5));
    expect_echo(std::variant<int, std::string>("chosen"));
    expect_echo(std::optional<std::string>());
    expect_echo(place{"here", {{1, 2.5}, {3, 4.5}}, 7});
    expect_echo(std::vector<place>{{"a", {}, {}}, {"b", {{1, 1}}, 2}});
    expect_echo(counter("clicks", {1, 2, 3}));
}

// Holds: run_at: Values may be of any size.
TEST_P(localities_values, large_vectors_and_strings_arrive_in_both_directions) {
    expect_echo(numbers(k_mega / sizeof(double)));
    expect_echo(text_of(k_mega));
    expect_echo(counter("large", std::vector<int>(k_mega, 3)));
    expect_echo(std::vector<std::vector<double>>{numbers(5000), numbers(1), {}, numbers(70'000)});
    expect_echo(std::map<int, std::string>{{1, text_of(100'000)}, {2, ""}, {3, text_of(20'000)}});
}

// Holds: run_at: Values may be...
TEST_P(localities_values, several_large_arguments_travel_with_one_call) {
    const auto check = [](const std::vector<double>& a, int between, const std::string& b,
                          const std::vector<int>& none, const std::vector<double>& c) {
        return a == numbers(400'000) && between == 7 && b == text_of(k_mega) && none.empty() &&
               c == numbers(3000);
    };
    EXPECT_TRUE(run_at(next_locality(), check, numbers(400'000), 7, text_of(k_mega),
                       std::vector<int>(), numbers(3000))
                    .get());
}

// Holds: run_at: Values may be...
TEST_P(localities_values, many_small_parts_arrive) {
    std::vector<std::string> words;
    std::map<int, double> table;
    for (int i = 0; i < 10'000; ++i) {
        if (i < 5000) {
            words.push_back("word " + std::to_string(i));
        }
        table[i * 7] = i / 3.0;
    }
    expect_echo(words);
    expect_echo(table);
    expect_echo(std::tuple(words, numbers(100'000), table));
}

// Holds: run_at: Values may be...
TEST_P(localities_values, sizes_around_those_at_which_the_way_changes_arrive) {
    for (std::size_t size = k_chunk - 3; size <= k_chunk + 3; ++size) {
        expect_echo(text_of(size));
        expect_echo(std::vector<char>(size, 'x'));
    }
    expect_echo(numbers(k_chunk / sizeof(double) - 1));
    expect_echo(numbers(k_chunk / sizeof(double)));
    expect_echo(numbers(k_chunk / sizeof(double) + 1));
    // Two that are each too small to travel apart, and about as much together as a message holds.
    for (std::size_t size = k_chunk - 200; size < k_chunk; size += 5) {
        expect_echo(std::pair(text_of(k_chunk - 1), text_of(size)));
    }
}

QUERN_ON_1_2_WORKERS(localities_values);

}  // namespace
