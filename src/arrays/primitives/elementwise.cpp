// SPDX-License-Identifier: BSL-1.0
// The table of elementwise primitives.
#include "kernels/elementwise.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"
#include "primitives/operations.hpp"

#include <quern/arrays/errors.hpp>

#include <array>
#include <string>
#include <utility>

namespace quern::arrays::detail {

namespace {

struct row {
    std::string_view name;
    std::string_view operation;  ///< the loops' name
    std::string_view parameters = "a, b";
    bool in_place = false;
};

constexpr row unary(std::string_view name) { return {name, name, "a"}; }
constexpr row binary(std::string_view name) { return {name, name}; }
constexpr row in_place(std::string_view name, std::string_view operation) {
    return {name, operation, "a, b", true};
}

constexpr row k_rows[] = {
    binary("add"),
    binary("subtract"),
    binary("multiply"),
    binary("divide"),
    binary("floor_divide"),
    binary("remainder"),
    binary("power"),
    unary("negative"),
    unary("positive"),
    unary("absolute"),
    unary("sign"),
    unary("square"),
    unary("reciprocal"),
    unary("sqrt"),
    unary("cbrt"),
    unary("exp"),
    unary("exp2"),
    unary("expm1"),
    unary("log"),
    unary("log2"),
    unary("log10"),
    unary("log1p"),
    unary("sin"),
    unary("cos"),
    unary("tan"),
    unary("arcsin"),
    unary("arccos"),
    unary("arctan"),
    binary("arctan2"),
    unary("sinh"),
    unary("cosh"),
    unary("tanh"),
    unary("floor"),
    unary("ceil"),
    unary("rint"),
    unary("trunc"),
    binary("minimum"),
    binary("maximum"),
    binary("fmin"),
    binary("fmax"),
    binary("hypot"),
    binary("equal"),
    binary("not_equal"),
    binary("less"),
    binary("less_equal"),
    binary("greater"),
    binary("greater_equal"),
    binary("logical_and"),
    binary("logical_or"),
    binary("logical_xor"),
    unary("logical_not"),
    binary("bitwise_and"),
    binary("bitwise_or"),
    binary("bitwise_xor"),
    unary("invert"),
    binary("left_shift"),
    binary("right_shift"),
    unary("isnan"),
    unary("isinf"),
    unary("isfinite"),
    detail::in_place("iadd", "add"),
    detail::in_place("isub", "subtract"),
    detail::in_place("imul", "multiply"),
    detail::in_place("itruediv", "divide"),
    detail::in_place("ifloordiv", "floor_divide"),
    detail::in_place("imod", "remainder"),
    detail::in_place("ipow", "power"),
    detail::in_place("iand", "bitwise_and"),
    detail::in_place("ior", "bitwise_or"),
    detail::in_place("ixor", "bitwise_xor"),
    detail::in_place("ilshift", "left_shift"),
    detail::in_place("irshift", "right_shift"),
    // NumPy's other names of the same.
    {"abs", "absolute", "a"},
    {"true_divide", "divide"},
    {"mod", "remainder"},
    {"pow", "power"},
    {"bitwise_not", "invert", "a"},
};
constexpr std::size_t k_row_count = std::size(k_rows);

template <std::size_t Row>
value run_row(std::span<const value> operands) {
    static const operation of(k_rows[Row].operation);
    return k_rows[Row].in_place ? run_in_place(of, operands) : run_operation(of, operands);
}

value run_where(std::span<const value> v) {
    if (v[1].is_none() != v[2].is_none()) {
        throw std::invalid_argument("either both or neither of x and y should be given");
    }
    if (v[1].is_none()) return call("nonzero", {v[0]});
    static const operation of("where");
    return run_operation(of, v);
}

value run_clip(std::span<const value> v) {
    static const operation both("clip");
    static const operation least("maximum");
    static const operation most("minimum");
    if (v[1].is_none() && v[2].is_none()) return copied(array_from(v[0], "a"), type_of(v[0]));
    if (v[2].is_none()) return run_operation(least, v.first(2));
    if (!v[1].is_none()) return run_operation(both, v);
    const value pair[] = {v[0], v[2]};
    return run_operation(most, pair);
}

value run_astype(std::span<const value> v) {
    return copied(array_from(v[0], "a"), dtype_from(v[1], dtype::float64));
}

value run_copy(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    return copied(from, from.type());
}

template <std::size_t... Row>
std::array<primitive, k_row_count + 4> make_table(std::index_sequence<Row...>) {
    return {primitive{k_rows[Row].name, k_rows[Row].parameters, &run_row<Row>, k_rows[Row].in_place,
                      !k_rows[Row].in_place}...,
            primitive{"where", "condition, x=None, y=None", &run_where, false, true},
            primitive{"clip", "a, a_min=None, a_max=None", &run_clip, false, true},
            primitive{"astype", "a, dtype", &run_astype, false, true},
            primitive{"copy", "a", &run_copy, false, true}};
}

}  // namespace

std::string_view loops_of(std::string_view name) noexcept {
    for (const row& each : k_rows) {
        if (each.name == name) return each.in_place ? std::string_view() : each.operation;
    }
    return name == "where" || name == "clip" ? name : std::string_view();
}

std::span<const primitive> elementwise_primitives() noexcept {
    static const auto table = make_table(std::make_index_sequence<k_row_count>());
    return table;
}

}  // namespace quern::arrays::detail
