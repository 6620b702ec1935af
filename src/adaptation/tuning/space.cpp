// SPDX-License-Identifier: BSL-1.0
// The mapping of values to coordinates. A parameter with cells is a grid: coordinate f lies in cell
// floor(f * cells), and the middle of a cell stands for it (as in Active Harmony).
#include <quern/adaptation/space.hpp>

#include <quern/base/detail/nearest_match.hpp>
#include <quern/base/detail/rng.hpp>
#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

constexpr double k_ratio = 1.25;            // between neighbouring cells by ratio (guessed)
constexpr std::size_t k_samples = 100'000;  // points in search of one that is allowed
constexpr double k_most_points = 9007199254740992.0;  // 2^53: exact in a double

std::string number(double value) { return quern::detail::rounded(value, 15); }

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
    throw std::invalid_argument("quern: parameter '" + name + "': " + why);
}

void check_range(const std::string& name, double least, double most) {
    if (name.empty()) {
        throw std::invalid_argument("quern: a parameter needs a name");
    }
    if (!std::isfinite(least) || !std::isfinite(most)) {
        refuse(name, "the range from " + number(least) + " to " + number(most) +
                         " is not finite; accepted: finite numbers");
    }
    if (least > most) {
        refuse(name, "the range from " + number(least) + " to " + number(most) +
                         " is empty; accepted: a least value that is not above the most, as from " +
                         number(most) + " to " + number(least));
    }
}

std::vector<std::string_view> names_of(const std::vector<parameter>& all) {
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const parameter& each : all) {
        names.push_back(each.name());
    }
    return names;
}

}  // namespace

parameter::parameter(std::string name, kind what, double least, double most)
    : m_name(std::move(name)), m_kind(what), m_least(least), m_most(most) {}

parameter integer(std::string name, std::int64_t least, std::int64_t most, std::int64_t step) {
    check_range(name, static_cast<double>(least), static_cast<double>(most));
    if (step < 1) {
        refuse(name, "a step of " + std::to_string(step) + "; accepted: whole numbers from 1 on");
    }
    const auto cells = (static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least)) /
                       static_cast<std::uint64_t>(step);
    parameter made(
        std::move(name), parameter::kind::integer, static_cast<double>(least),
        static_cast<double>(least) + static_cast<double>(cells) * static_cast<double>(step));
    made.m_step = static_cast<double>(step);
    made.m_cells = cells + 1;
    made.m_start = made.value_at(0.5);
    return made;
}

parameter power_of_two(std::string name, std::uint64_t least, std::uint64_t most) {
    check_range(name, static_cast<double>(least), static_cast<double>(most));
    for (const std::uint64_t end : {least, most}) {
        if (!std::has_single_bit(end)) {
            const std::uint64_t below = std::max<std::uint64_t>(1, std::bit_floor(end));
            refuse(name, std::to_string(end) + " is no power of two; the nearest below is " +
                             std::to_string(below));
        }
    }
    parameter made(std::move(name), parameter::kind::power_of_two, static_cast<double>(least),
                   static_cast<double>(most));
    made.m_cells = static_cast<std::size_t>(std::countr_zero(most) - std::countr_zero(least)) + 1;
    made.m_start = made.value_at(0.5);
    return made;
}

parameter real(std::string name, double least, double most) {
    check_range(name, least, most);
    parameter made(std::move(name), parameter::kind::real, least, most);
    made.m_start = made.value_at(0.5);
    return made;
}

parameter choice(std::string name, std::vector<std::string> words) {
    if (words.empty()) {
        refuse(name, "a choice of no words; accepted: one or more");
    }
    for (auto each = words.begin(); each != words.end(); ++each) {
        if (std::find(words.begin(), each, *each) != each) {
            refuse(name, "the word '" + *each + "' is there twice");
        }
    }
    check_range(name, 0, static_cast<double>(words.size() - 1));
    parameter made(std::move(name), parameter::kind::choice, 0,
                   static_cast<double>(words.size() - 1));
    made.m_cells = words.size();
    made.m_words = std::move(words);
    return made;
}

double parameter::value_at(double coordinate) const noexcept {
    double f = std::clamp(coordinate, 0.0, 1.0);
    if (m_cells != 0) {
        const auto cells = static_cast<double>(m_cells);
        const double index = std::min(std::floor(f * cells), cells - 1);
        if (m_kind == kind::power_of_two) {
            return m_least * std::exp2(index);
        }
        if (!m_by_ratio) {
            return m_least + index * m_step;
        }
        f = m_cells == 1 ? 0 : index / (cells - 1);
    }
    const double value =
        m_by_ratio ? m_least * std::pow(m_most / m_least, f) : m_least + f * (m_most - m_least);
    return m_kind == kind::integer ? snapped(value) : std::clamp(value, m_least, m_most);
}

double parameter::snapped(double value) const noexcept {
    return std::clamp(m_least + std::round((value - m_least) / m_step) * m_step, m_least, m_most);
}

double parameter::coordinate_of(double value) const noexcept {
    const double v = std::clamp(value, m_least, m_most);
    if (m_most <= m_least) {
        return 0.5;
    }
    if (m_cells == 0) {
        return m_by_ratio ? std::log(v / m_least) / std::log(m_most / m_least)
                          : (v - m_least) / (m_most - m_least);
    }
    const auto cells = static_cast<double>(m_cells);
    double index = (v - m_least) / m_step;
    if (m_kind == kind::power_of_two) {
        index = std::log2(v / m_least);
    } else if (m_by_ratio) {
        index = std::log(v / m_least) / std::log(m_most / m_least) * (cells - 1);
    }
    return (std::round(index) + 0.5) / cells;
}

std::string parameter::text_of(double value) const {
    return m_kind == kind::choice ? m_words[static_cast<std::size_t>(value)] : number(value);
}

std::string parameter::accepted() const {
    switch (m_kind) {
        case kind::choice: {
            std::string text;
            for (const std::string& each : m_words) {
                text += (text.empty() ? "" : ", ") + each;
            }
            return text;
        }
        case kind::power_of_two:
            return "a power of two from " + number(m_least) + " to " + number(m_most);
        case kind::integer:
            return "a whole number from " + number(m_least) + " to " + number(m_most) +
                   (m_step > 1 ? " in steps of " + number(m_step) : "");
        case kind::real:
            break;
    }
    return "a number from " + number(m_least) + " to " + number(m_most);
}

parameter parameter::starting_at(double value) && {
    bool is_one = value >= m_least && value <= m_most;  // false for NaN
    double nearest = std::isnan(value) ? m_least : std::clamp(value, m_least, m_most);
    if (m_kind == kind::power_of_two) {
        nearest = std::min(m_most, m_least * std::exp2(std::round(std::log2(nearest / m_least))));
        is_one = is_one && value == nearest;
    } else if (m_kind != kind::real) {
        nearest = snapped(nearest);
        is_one = is_one && value == nearest;
    }
    if (!is_one) {
        refuse(m_name, "start at " + number(value) + "; accepted: " + accepted() +
                           "; the nearest is " + text_of(nearest));
    }
    m_start = value;
    return std::move(*this);
}

parameter parameter::starting_at(std::string_view word) && {
    const auto at = std::find(m_words.begin(), m_words.end(), word);
    if (at == m_words.end()) {
        const std::vector<std::string_view> words(m_words.begin(), m_words.end());
        refuse(m_name, "start at '" + std::string(word) + "'; " +
                           (words.empty() ? "accepted: " + accepted()
                                          : quern::detail::accepted_values(word, words)));
    }
    m_start = static_cast<double>(at - m_words.begin());
    return std::move(*this);
}

parameter parameter::by_ratio() && {
    if ((m_kind != kind::integer && m_kind != kind::real) || m_least <= 0) {
        refuse(m_name, "cannot be divided by ratio; accepted: numbers above 0");
    }
    m_by_ratio = true;
    if (m_kind == kind::integer) {
        const double ratios = std::ceil(std::log(m_most / m_least) / std::log(k_ratio));
        m_cells = std::min(m_cells, static_cast<std::size_t>(ratios) + 1);
    }
    m_start = value_at(0.5);
    return std::move(*this);
}

std::size_t point::index_of(std::string_view name) const {
    if (m_of != nullptr) {
        for (std::size_t i = 0; i < m_of->size(); ++i) {
            if ((*m_of)[i].name() == name) {
                return i;
            }
        }
    }
    const std::vector<std::string_view> names =
        m_of == nullptr ? std::vector<std::string_view>() : names_of(*m_of);
    throw std::invalid_argument("quern: no parameter '" + std::string(name) +
                                "': " + quern::detail::accepted_values(name, names));
}

double point::operator[](std::string_view name) const { return m_values[index_of(name)]; }

std::string point::word(std::string_view name) const {
    const std::size_t at = index_of(name);
    return (*m_of)[at].text_of(m_values[at]);
}

std::string point::text() const {
    std::string text;
    for (std::size_t i = 0; i < m_values.size(); ++i) {
        text += (i == 0 ? "" : ", ") + (*m_of)[i].name() + "=" + (*m_of)[i].text_of(m_values[i]);
    }
    return text;
}

space::space(std::vector<parameter> parameters) {
    if (parameters.empty()) {
        throw std::invalid_argument("quern: a space without parameters; accepted: one or more");
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (parameters[i].name() == parameters[j].name()) {
                refuse(parameters[i].name(), "is there twice");
            }
        }
        m_start.push_back(parameters[i].coordinate_of(parameters[i].start()));
    }
    m_parameters = std::make_shared<const std::vector<parameter>>(std::move(parameters));
}

space& space::require(std::function<bool(const point&)> allows, std::string words) {
    if (allows == nullptr) {
        throw std::invalid_argument("quern: the rule '" + words + "' has no function");
    }
    m_rules.push_back({std::move(allows), std::move(words)});
    if (!this->allows(at(m_start))) {
        m_start = some_allowed();
    }
    return *this;
}

std::vector<double> space::some_allowed() const {
    const std::size_t all = size();
    const bool is_whole = all != 0 && all <= k_samples;
    quern::detail::rng random(1);
    std::vector<double> coordinates(m_parameters->size());
    for (std::size_t i = 0; i < (is_whole ? all : k_samples); ++i) {
        std::size_t rest = i;
        for (std::size_t j = 0; j < coordinates.size(); ++j) {
            const std::size_t cells = (*m_parameters)[j].cells();
            coordinates[j] =
                is_whole ? (static_cast<double>(rest % cells) + 0.5) / static_cast<double>(cells)
                         : static_cast<double>(random.next() >> 11) * 0x1p-53;
            rest = is_whole ? rest / cells : rest;
        }
        if (allows(at(coordinates))) {
            return coordinates;
        }
    }
    std::string rules;
    for (const rule& each : m_rules) {
        rules += (rules.empty() ? "'" : "' and '") + each.words;
    }
    throw std::invalid_argument("quern: no point satisfies " + rules + "': " +
                                (is_whole ? "tried all " + std::to_string(all)
                                          : "tried " + std::to_string(k_samples) + " at random"));
}

point space::start() const { return at(m_start); }

point space::at(std::span<const double> coordinates) const {
    std::vector<double> values(coordinates.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = (*m_parameters)[i].value_at(coordinates[i]);
    }
    return {m_parameters, std::move(values)};
}

std::vector<double> space::coordinates_of(const point& where) const {
    std::vector<double> coordinates(where.values().size());
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
        coordinates[i] = (*m_parameters)[i].coordinate_of(where.values()[i]);
    }
    return coordinates;
}

point space::with(std::span<const double> values) const {
    if (values.size() != m_parameters->size()) {
        throw std::invalid_argument("quern: " + std::to_string(values.size()) +
                                    " values for a space of " +
                                    std::to_string(m_parameters->size()) + " parameters");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        parameter((*m_parameters)[i]).starting_at(values[i]);  // throws
    }
    return {m_parameters, {values.begin(), values.end()}};
}

bool space::allows(const point& where) const {
    return std::all_of(m_rules.begin(), m_rules.end(),
                       [&](const rule& each) { return each.allows(where); });
}

std::size_t space::size() const noexcept {
    double points = 1;
    for (const parameter& each : *m_parameters) {
        points *= static_cast<double>(each.cells());
    }
    return points > k_most_points ? 0 : static_cast<std::size_t>(points);
}

}  // namespace quern::adaptation
