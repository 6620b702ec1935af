// SPDX-License-Identifier: BSL-1.0
// Evaluation of one node, but for loops (loops.cpp) and operands at the same time (waves.cpp). Each
// kind that needs room for values has a function of its own that is not inlined: recursions of
// trees nest the others a hundred thousand times.
#include "tree/evaluate.hpp"

#include "primitives/chains.hpp"
#include "tree/decide.hpp"
#include "tree/errors.hpp"

#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/stop.hpp>

#include <array>
#include <stdexcept>

namespace quern::arrays::detail {

namespace {

constexpr std::uint32_t k_most_nested = 150'000;  ///< some KB of memory each

/// Calls body(span) with room for the operands and so many further values.
template <class Body>
flow with_values(std::size_t count, Body&& body) {
    const auto with_array = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
        std::array<value, N> room;
        return body(std::span<value>(room.data(), count));
    };
    switch (count) {
        case 0:
        case 1:
            return with_array(std::integral_constant<std::size_t, 1>());
        case 2:
            return with_array(std::integral_constant<std::size_t, 2>());
        case 3:
            return with_array(std::integral_constant<std::size_t, 3>());
        case 4:
            return with_array(std::integral_constant<std::size_t, 4>());
        default:
            break;
    }
    values room(count);
    return body(std::span<value>(room));
}

void note_deferred(frame& f, const node_data& n, const value& out) noexcept {
    if (n.may_defer && out.is<foreign>()) {
        f.counts_of(n).fused.fetch_add(1, std::memory_order_relaxed);
    }
}

/// The array of a variable that is lent.
const array* lent_array(frame& f, const node_data& n, std::size_t operand) noexcept {
    if ((n.lent >> operand & 1) == 0) {
        return nullptr;
    }
    const variable& from = f.at(f.operand(n, operand).slot);
    return from.has_value() ? from->as<array>() : nullptr;
}

/// As evaluate_all. What is lent has no part in the count of its owner, which workers that run
/// iterations of one loop would all change; but the address is the owner's.
QUERN_NOINLINE void evaluate_lending(frame& f, const node_data& n, value* outs) {
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
        if (const array* const a = lent_array(f, n, i)) {
            outs[i] = array(a->bytes(), a->type(), a->shape(), a->strides(),
                            std::shared_ptr<void>(std::shared_ptr<void>(), a->owner().get()),
                            a->is_writable());
        } else {
            evaluate_operand(f, n, i, outs[i]);
        }
    }
}

/// A view of what was lent gets the owner.
QUERN_NOINLINE void keep_lent(frame& f, const node_data& n, value& made) {
    const array* const view = made.as<array>();
    if (view == nullptr || view->owner() == nullptr || view->owner().use_count() != 0) {
        return;
    }
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
        const array* const a = lent_array(f, n, i);
        if (a != nullptr && a->owner() == view->owner()) {
            made = array(view->bytes(), view->type(), view->shape(), view->strides(), a->owner(),
                         view->is_writable());
            return;
        }
    }
}

QUERN_NOINLINE flow evaluate_call(frame& f, const node_data& n, value& out, node_times* times) {
    const std::size_t operands = n.operands.size();
    return with_values(operands + n.presets.size(), [&](std::span<value> all) {
        const bool is_chained = n.may_defer || n.deferring != 0;
        const bool lends = n.lent != 0 && !is_chained && !n.has_waves;
        if (lends) {
            evaluate_lending(f, n, all.data());
        } else {
            evaluate_all(f, n, all.data());
        }
        for (std::size_t i = 0; i < n.presets.size(); ++i) {
            all[operands + i] = n.presets[i];
        }
        operands_are_there(times);
        if (is_chained) {
            out = at_place(f.of, n, [&] {
                return run_in_chain(*n.chained, *n.what, all, n.deferring, n.may_defer);
            });
            note_deferred(f, n, out);
        } else {
            out = at_place(f.of, n, [&] { return n.what->run(all); });
            if (lends) {
                keep_lent(f, n, out);
            }
        }
        return flow::on;
    });
}

QUERN_NOINLINE flow evaluate_foreign(frame& f, const node_data& n, value& out, node_times* times) {
    return with_values(n.operands.size(), [&](std::span<value> all) {
        evaluate_all(f, n, all.data());
        operands_are_there(times);
        out = at_place(f.of, n, [&] { return n.function(all); });
        return flow::on;
    });
}

[[noreturn]] QUERN_COLD void refuse_depth(const frame& f, const node_data& n) {
    throw std::overflow_error(f.of.place_of(n) + ": in " + f.of.name + ": " + n.name +
                              "() is nested more than " + std::to_string(k_most_nested) +
                              " deep: a recursion without end?");
}

QUERN_NOINLINE flow evaluate_tree(frame& f, const node_data& n, value& out, node_times* times) {
    const tree_parts& called = n.calls_itself ? f.of : tree_parts::of(*n.other);
    if (f.depth >= k_most_nested) [[unlikely]] {
        refuse_depth(f, n);
    }
    if (!called.is_finished()) [[unlikely]] {
        throw std::logic_error(f.of.place_of(n) + ": in " + f.of.name + ": the tree " + n.name +
                               " is called before it is finished");
    }
    poll_stop(f);
    std::optional<frame> own;
    with_values(n.operands.size(), [&](std::span<value> all) {
        evaluate_all(f, n, all.data());
        own.emplace(called, f.how, f.depth + 1u, all);
        return flow::on;
    });
    operands_are_there(times);
    called.calls.fetch_add(1, std::memory_order_relaxed);
    out = run_body(*own);
    return flow::on;
}

QUERN_NOINLINE flow evaluate_block(frame& f, const node_data& n, value& out) {
    if (n.has_waves) {
        return evaluate_waves(f, n, nullptr, &out);
    }
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
        const flow how = evaluate_operand(f, n, i, out);
        if (how != flow::on) {
            return how;
        }
    }
    out = none();
    return flow::on;
}

QUERN_NOINLINE flow evaluate_store(frame& f, const node_data& n, value& out) {
    value made;
    evaluate_operand(f, n, 0, made);
    f.at(n.slot) = std::move(made);
    out = none();
    return flow::on;
}

QUERN_NOINLINE flow evaluate_branch(frame& f, const node_data& n, value& out) {
    value condition;
    evaluate_operand(f, n, 0, condition);
    const bool holds = truth_at(f, n, condition);
    if (!holds && n.operands.size() < 3) {
        out = none();
        return flow::on;
    }
    return evaluate_operand(f, n, holds ? 1 : 2, out);
}

flow evaluate_result(frame& f, const node_data& n, value& out) {
    if (n.operands.empty()) {
        out = none();
    } else {
        evaluate_operand(f, n, 0, out);
    }
    return flow::result;
}

/// `and`: the first if it is false, else the second; `or` the other way round.
QUERN_NOINLINE flow evaluate_connective(frame& f, const node_data& n, value& out) {
    evaluate_operand(f, n, 0, out);
    if (truth_at(f, n, out) == (n.kind == node_kind::both)) {
        evaluate_operand(f, n, 1, out);
    }
    return flow::on;
}

QUERN_NOINLINE flow evaluate_negation(frame& f, const node_data& n, value& out) {
    value given;
    evaluate_operand(f, n, 0, given);
    out = !truth_at(f, n, given);
    return flow::on;
}

QUERN_NOINLINE flow evaluate_tuple(frame& f, const node_data& n, value& out) {
    auto made = std::make_shared<values>(n.operands.size());
    evaluate_all(f, n, made->data());
    out = tuple(std::move(made));
    return flow::on;
}

std::optional<std::int64_t> bound_of(const frame& f, const node_data& n, const value& given) {
    if (given.is_none()) {
        return std::nullopt;
    }
    if (const bool* const truth = given.as<bool>()) {
        return *truth ? 1 : 0;
    }
    if (const std::int64_t* const number = given.as<std::int64_t>()) {
        return *number;
    }
    if (const array* const a = given.as<array>(); a != nullptr && a->dimensions() == 0) {
        if (a->type() == dtype::int64) {
            return *a->data<std::int64_t>();
        }
        if (a->type() == dtype::int32) {
            return *a->data<std::int32_t>();
        }
    }
    refuse_at(f.of, n, "slice indices must be integers or None, not " + describe(given));
}

QUERN_NOINLINE flow evaluate_slice(frame& f, const node_data& n, value& out) {
    std::array<value, 3> bounds;
    evaluate_all(f, n, bounds.data());
    out = slice{.start = bound_of(f, n, bounds[0]),
                .stop = bound_of(f, n, bounds[1]),
                .step = bound_of(f, n, bounds[2])};
    return flow::on;
}

QUERN_NOINLINE flow evaluate_item(frame& f, const node_data& n, value& out) {
    value whole;
    evaluate_operand(f, n, 0, whole);
    const std::int64_t length = length_of(whole);
    if (length < 0) {
        refuse_at(f.of, n, "cannot unpack " + describe(whole));
    }
    const std::int64_t wanted = n.length >= 0 ? n.length : std::int64_t{n.slot} + 1;
    if (length < wanted) {
        refuse_at(f.of, n,
                  "not enough values to unpack (expected " + std::to_string(wanted) + ", got " +
                      std::to_string(length) + ")");
    }
    if (n.length >= 0 && length > wanted) {
        refuse_at(f.of, n, "too many values to unpack (expected " + std::to_string(wanted) + ")");
    }
    out = element_of(whole, n.slot);
    return flow::on;
}

flow evaluate_kind(frame& f, const node_data& n, value& out, node_times* times) {
    switch (n.kind) {
        case node_kind::call:
            return evaluate_call(f, n, out, times);
        case node_kind::call_tree:
            return evaluate_tree(f, n, out, times);
        case node_kind::call_foreign:
            return evaluate_foreign(f, n, out, times);
        case node_kind::store:
            return evaluate_store(f, n, out);
        case node_kind::block:
            return evaluate_block(f, n, out);
        case node_kind::branch:
            return evaluate_branch(f, n, out);
        case node_kind::result:
            return evaluate_result(f, n, out);
        case node_kind::loop:
            return evaluate_while(f, n, out);
        case node_kind::for_each:
            return evaluate_for(f, n, out);
        case node_kind::parallel_for:
            return evaluate_parallel_for(f, n, out);
        case node_kind::both:
        case node_kind::either:
            return evaluate_connective(f, n, out);
        case node_kind::negation:
            return evaluate_negation(f, n, out);
        case node_kind::make_tuple:
            return evaluate_tuple(f, n, out);
        case node_kind::make_slice:
            return evaluate_slice(f, n, out);
        case node_kind::item:
            return evaluate_item(f, n, out);
        case node_kind::leave:
            return flow::leave;
        case node_kind::next:
            return flow::next;
        case node_kind::constant:
        case node_kind::load:
            break;
    }
    return evaluate(f, n, out);
}

void note_times(frame& f, const node_data& n, const node_times& times) noexcept {
    const tick_count now = quern::detail::ticks();
    const tick_count whole = now - times.begun;
    node_counts& counts = f.counts_of(n);
    const std::uint64_t timed = counts.timed.fetch_add(1, std::memory_order_relaxed) + 1u;
    const std::uint64_t sum = counts.inclusive.fetch_add(whole, std::memory_order_relaxed) + whole;
    if (times.has_operands != 0) {
        counts.exclusive.fetch_add(now - times.has_operands, std::memory_order_relaxed);
    }
    if (timed % 8u == 0) {  // how rarely it may be timed from now on
        constexpr double k_tiny_ns = 200;
        constexpr double k_small_ns = 2'000;
        const double mean =
            static_cast<double>(sum) / static_cast<double>(timed) * quern::detail::ns_per_tick();
        const std::uint32_t mask = mean < k_tiny_ns ? 63u : mean < k_small_ns ? 15u : 0u;
        counts.timing_mask.store(mask, std::memory_order_relaxed);
    }
    if (n.may_be_task) {
        note_evaluation(f, n, whole);
    }
}

flow evaluate_timed(frame& f, const node_data& n, value& out) {
    node_times times{.begun = quern::detail::ticks()};
    const flow how = evaluate_kind(f, n, out, &times);
    note_times(f, n, times);
    return how;
}

flow evaluate_here(frame& f, const node_data& n, value& out) {
    constexpr std::uint64_t k_first = 16;  // all timed
    node_counts& counts = f.counts_of(n);
    const std::uint64_t before = counts.evaluations.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t mask =
        f.how.times_all ? 0u : counts.timing_mask.load(std::memory_order_relaxed);
    if (n.is_cheap || (before >= k_first && (before & mask) != 0)) {
        return evaluate_kind(f, n, out, nullptr);
    }
    return evaluate_timed(f, n, out);
}

}  // namespace

flow evaluate_counted(frame& f, const node_data& n, value& out) {
    return quern::detail::on_enough_stack([&] { return evaluate_here(f, n, out); });
}

flow evaluate_all(frame& f, const node_data& n, value* outs) {
    if (n.has_waves) {
        return evaluate_waves(f, n, outs, nullptr);
    }
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
        evaluate_operand(f, n, i, outs[i]);
    }
    return flow::on;
}

void poll_stop(const frame& f) {
    if (this_task::stop_requested()) [[unlikely]] {
        std::rethrow_exception(quern::detail::cancelled_task(f.of.name.c_str()));
    }
}

void refuse_empty(const frame& f, const node_data& n) {
    refuse_at(f.of, n, "the variable `" + f.of.variables[n.slot] + "` has no value yet");
}

bool truth_at(const frame& f, const node_data& n, const value& of) {
    if (const bool* const truth = of.as<bool>()) {
        return *truth;
    }
    return at_place(f.of, n, [&] { return truth_of(of); });
}

value run_body(frame& f) {
    value out;
    const flow how = evaluate(f, f.of.nodes[f.of.root], out);
    return how == flow::result ? std::move(out) : value(none());
}

}  // namespace quern::arrays::detail
