// SPDX-License-Identifier: BSL-1.0
// The types that the tests of the archive send, and a round trip.
#pragma once

#include <quern/localities/archive.hpp>

#include <cereal/access.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace quern_test {

namespace archive = quern::localities;
namespace archive_detail = quern::localities::detail;

enum class colour : std::uint8_t { red, green, blue };
enum class switched : bool { off, on };

struct point {
    double x = 0;
    double y = 0;
    bool operator==(const point&) const = default;
};

/// With a bool, which is checked, and so read member by member.
struct pixel {
    point at;
    colour of = colour::red;
    bool is_lit = false;
    bool operator==(const pixel&) const = default;
};

struct drawing {
    std::string name;
    std::vector<pixel> pixels;
    double matrix[2][3] = {};
    std::optional<point> origin;
    bool operator==(const drawing&) const = default;
};

/// Contains itself.
struct tree {
    int value = 0;
    std::vector<tree> branches;
    bool operator==(const tree&) const = default;
};

struct node {
    int value = 0;
    std::unique_ptr<node> next;
};

struct alignas(64) line {
    double values[8] = {};
    bool operator==(const line&) const = default;
};

struct nothing {
    bool operator==(const nothing&) const = default;
};

/// Trivially copyable, but no aggregate and without functions.
class angle {
public:
    angle() = default;
    explicit angle(double radians) : m_radians(radians) {}
    bool operator==(const angle&) const = default;

private:
    double m_radians = 0;
};

class with_member {
public:
    with_member() = default;
    explicit with_member(std::string text) : m_text(std::move(text)) {}
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_text);
    }
    bool operator==(const with_member&) const = default;

private:
    std::string m_text;
};

/// An aggregate whose own function leaves out a member.
struct with_own_choice {
    int sent = 0;
    int* kept_here = nullptr;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(sent);
    }
};

struct with_free {
    std::vector<int> values;
    bool operator==(const with_free&) const = default;
};
template <class Archive>
void serialize(Archive& archive, with_free& of) {
    archive(cereal::make_nvp("values", of.values));
}

class with_pair {
public:
    with_pair() = default;
    explicit with_pair(unsigned value) : m_value(value) {}
    template <class Archive>
    void save(Archive& archive) const {
        archive(m_value + 1, std::string("checked"));
    }
    template <class Archive>
    void load(Archive& archive) {
        std::string text;
        archive(m_value, text);
        m_value -= text == "checked" ? 1U : 0U;
    }
    bool operator==(const with_pair&) const = default;

private:
    unsigned m_value = 0;
};

class with_private {
public:
    with_private() = default;
    explicit with_private(int value) : m_value(value) {}
    bool operator==(const with_private&) const = default;

private:
    friend class cereal::access;
    template <class Archive>
    void serialize(Archive& archive, std::uint32_t version) {
        archive(m_value, version);
    }
    int m_value = 0;
};

/// Its function writes nothing.
struct with_empty_function {
    std::unique_ptr<int> cache;
    template <class Archive>
    void serialize(Archive&) {}
};

/// Passes its member itself to the archive and says so.
struct field {
    std::vector<double> values;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(values);
    }
    bool operator==(const field&) const = default;
};

template <class... T>
std::vector<std::byte> bytes_of(const T&... values) {
    archive::writer to;
    (archive_detail::write(to, values), ...);
    return {to.bytes().begin(), to.bytes().end()};
}

template <class T>
T read_from(std::span<const std::byte> bytes) {
    archive::reader from(bytes);
    T value{};
    archive_detail::read(from, value);
    from.expect_end("a value");
    return value;
}

template <class T>
T sent(const T& value) {
    return read_from<T>(bytes_of(value));
}

}  // namespace quern_test

template <>
inline constexpr bool quern::localities::is_read_in_place<quern_test::field> = true;
