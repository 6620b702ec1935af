// SPDX-License-Identifier: BSL-1.0
// What a tuner chooses from: parameters with their ranges, and points, which give each parameter a
// value. Searches see a parameter as a coordinate from 0 to 1 and never as a value.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::adaptation {

/// One parameter of a space. Made by integer(), power_of_two(), real() and choice().
class parameter {
public:
    /// The value where a search begins; without it, the middle of the range. Throws
    /// std::invalid_argument for a value that is not in the range, with the nearest one that is.
    parameter starting_at(double value) &&;
    parameter starting_at(std::string_view word) &&;

    /// Its cells divide the range into equal ratios instead of equal differences: for sizes.
    /// Throws std::invalid_argument unless it is an integer from 1 on or a real above 0.
    parameter by_ratio() &&;

    const std::string& name() const noexcept { return m_name; }
    double least() const noexcept { return m_least; }
    double most() const noexcept { return m_most; }
    double start() const noexcept { return m_start; }

    /// Number of values that a search tells apart; 0: any real.
    std::size_t cells() const noexcept { return m_cells; }

    /// False: a choice, whose values are the places of its words.
    bool is_number() const noexcept { return m_kind != kind::choice; }

    /// The value at a coordinate from 0 to 1; with cells, that of the cell around it.
    double value_at(double coordinate) const noexcept;

    /// The coordinate of a value: the middle of its cell.
    double coordinate_of(double value) const noexcept;

    /// The value as text: "64", "rows".
    std::string text_of(double value) const;

    /// In words: "a whole number from 8 to 512 in steps of 8".
    std::string accepted() const;

private:
    friend parameter integer(std::string name, std::int64_t least, std::int64_t most,
                             std::int64_t step);
    friend parameter power_of_two(std::string name, std::uint64_t least, std::uint64_t most);
    friend parameter real(std::string name, double least, double most);
    friend parameter choice(std::string name, std::vector<std::string> words);

    enum class kind : std::uint8_t { integer, power_of_two, real, choice };
    parameter(std::string name, kind what, double least, double most);
    double snapped(double value) const noexcept;

    std::string m_name;
    kind m_kind;
    bool m_by_ratio = false;
    double m_least;
    double m_most;
    double m_step = 1;
    double m_start = 0;
    std::size_t m_cells = 0;
    std::vector<std::string> m_words;
};

/// A whole number from `least` to `most` in steps. Like the next three: throws
/// std::invalid_argument that names the parameter, the value and what is accepted for an empty
/// name, an empty range, a step below 1, numbers that are not finite.
parameter integer(std::string name, std::int64_t least, std::int64_t most, std::int64_t step = 1);

/// 1, 2, 4 … within the range. Requires that both ends are powers of two.
parameter power_of_two(std::string name, std::uint64_t least, std::uint64_t most);

parameter real(std::string name, double least, double most);

/// One of several words without an order; its number is its place in the list.
parameter choice(std::string name, std::vector<std::string> words);

/// A value for each parameter of a space. Cheap to copy.
class point {
public:
    point() = default;

    /// The number of a parameter; for a choice, the place of the word. Throws std::invalid_argument
    /// for an unknown name, with the nearest match.
    double operator[](std::string_view name) const;

    /// The word of a choice. Throws as above.
    std::string word(std::string_view name) const;

    /// "tile=64, order=rows".
    std::string text() const;

    std::span<const double> values() const noexcept { return m_values; }

    friend bool operator==(const point& a, const point& b) noexcept {
        return a.m_values == b.m_values;
    }

private:
    friend class space;
    using parameters = std::vector<parameter>;
    point(std::shared_ptr<const parameters> of, std::vector<double> values)
        : m_of(std::move(of)), m_values(std::move(values)) {}
    std::size_t index_of(std::string_view name) const;

    std::shared_ptr<const parameters> m_of{};
    std::vector<double> m_values{};
};

/// The points that a tuner may try. A value; copies are independent.
///
///     using namespace quern::adaptation;
///     space tiles({power_of_two("rows", 8, 512), power_of_two("columns", 8, 512)});
///     tiles.require([](const point& p) { return p["rows"] * p["columns"] <= 65536; },
///                   "a tile fits into the cache");
class space {
public:
    /// Throws std::invalid_argument for no parameters or two of one name.
    explicit space(std::vector<parameter> parameters);

    /// Points for which the predicate is false are never tried. `words` says the rule in messages.
    /// Throws std::invalid_argument if it and the earlier ones allow none: of all points, or of
    /// 100 000 random ones in a larger space.
    space& require(std::function<bool(const point&)> allows, std::string words);

    const std::vector<parameter>& parameters() const noexcept { return *m_parameters; }

    /// Where a search begins: the start of each parameter. If no rule allows it, the first allowed
    /// point that require() has found.
    point start() const;

    /// The point at coordinates. Requires: one for each parameter, from 0 to 1.
    point at(std::span<const double> coordinates) const;
    std::vector<double> coordinates_of(const point& where) const;

    /// The point with these values. Throws std::invalid_argument for a value out of range.
    point with(std::span<const double> values) const;

    bool allows(const point& where) const;

    /// Number of points, allowed or not; 0: infinitely many, or more than 2^53.
    std::size_t size() const noexcept;

private:
    struct rule {
        std::function<bool(const point&)> allows;
        std::string words;
    };
    std::vector<double> some_allowed() const;

    std::shared_ptr<const std::vector<parameter>> m_parameters;
    std::vector<rule> m_rules;
    std::vector<double> m_start;  ///< coordinates
};

}  // namespace quern::adaptation
