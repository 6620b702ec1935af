// SPDX-License-Identifier: BSL-1.0
// Loops, serial and parallel, and what can be iterated over.
#include "blas/functions.hpp"
#include "tree/decide.hpp"
#include "tree/errors.hpp"
#include "tree/evaluate.hpp"

#include <quern/algorithms/detail/loop.hpp>
#include <quern/algorithms/grain.hpp>
#include <quern/task/stop.hpp>

#include <optional>
#include <stdexcept>
#include <stop_token>

namespace quern::arrays::detail {

namespace {

/// The values that a loop's variable takes.
class loop_range {
public:
    loop_range(const frame& f, const node_data& n, value&& over) : m_over(std::move(over)) {
        if (const slice* const range = m_over.as<slice>()) {
            m_start = range->start.value_or(0);
            m_step = range->step.value_or(1);
            if (!range->stop) {
                refuse_at(f.of, n, "a range needs its end");
            }
            if (m_step == 0) {
                refuse_at(f.of, n, "range() arg 3 must not be zero");
            }
            m_count = count_of(m_start, *range->stop, m_step);
            m_is_range = true;
            return;
        }
        m_count = length_of(m_over);
        if (m_count < 0) {
            refuse_at(f.of, n, "cannot iterate over " + describe(m_over));
        }
    }

    std::int64_t count() const noexcept { return m_count; }
    value at(std::int64_t i) const { return m_is_range ? value(number(i)) : element_of(m_over, i); }

private:
    /// Wraps in between where start and step are far apart.
    std::int64_t number(std::int64_t i) const noexcept {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(m_start) +
                                         static_cast<std::uint64_t>(i) *
                                             static_cast<std::uint64_t>(m_step));
    }

    /// Without overflow for ends that are far apart.
    static std::int64_t count_of(std::int64_t start, std::int64_t stop,
                                 std::int64_t step) noexcept {
        if (step > 0 ? start >= stop : start <= stop) {
            return 0;
        }
        const auto first = static_cast<std::uint64_t>(start);
        const auto last = static_cast<std::uint64_t>(stop);
        const std::uint64_t distance = step > 0 ? last - first : first - last;
        const std::uint64_t stride =
            step > 0 ? static_cast<std::uint64_t>(step) : 0u - static_cast<std::uint64_t>(step);
        return static_cast<std::int64_t>((distance - 1u) / stride + 1u);
    }

    value m_over;
    std::int64_t m_start = 0;
    std::int64_t m_step = 1;
    std::int64_t m_count = 0;
    bool m_is_range = false;
};

/// The body, while `has_next()`, with what its `break`, `continue` and `return` mean.
template <class HasNext>
flow repeat_body(frame& f, const node_data& n, value& out, HasNext has_next) {
    for (;;) {
        poll_stop(f);
        if (!has_next()) {
            break;
        }
        const flow how = evaluate_operand(f, n, 1, out);
        if (how == flow::result) {
            return how;
        }
        if (how == flow::leave) {
            break;
        }
    }
    out = none();
    return flow::on;
}

/// Calls chunk(first, last) for parts of [0, count), as parallel_for calls its body.
template <class Chunk>
void parallel_chunks(const node_data& n, std::int64_t count, grain how, const Chunk& chunk) {
    const auto range = [&](quern::detail::fork_slot*, std::size_t first, std::size_t last) {
        chunk(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last));
        return true;
    };
    const auto whole = [&](quern::detail::fork_slot* slot, quern::detail::stop_signal& signal) {
        quern::detail::deal_loop(slot, signal, static_cast<std::size_t>(count),
                                 quern::detail::chunk_size(how), range);
    };
    quern::detail::run_loop(nullptr, n.site, std::stop_token(), whole);
}

}  // namespace

std::int64_t length_of(const value& of) noexcept {
    if (const tuple* const elements = of.as<tuple>()) {
        return *elements != nullptr ? static_cast<std::int64_t>((*elements)->size()) : 0;
    }
    const array* const rows = of.as<array>();
    return rows != nullptr && rows->dimensions() > 0 ? rows->shape()[0] : -1;
}

value element_of(const value& of, std::int64_t i) {
    if (const tuple* const elements = of.as<tuple>()) {
        return (**elements)[static_cast<std::size_t>(i)];
    }
    const array& rows = *of.as<array>();
    extents shape;
    extents strides;
    for (std::size_t d = 1; d < rows.dimensions(); ++d) {
        shape.push_back(rows.shape()[d]);
        strides.push_back(rows.strides()[d]);
    }
    return rows.view(shape, strides, i * rows.strides()[0]);
}

flow evaluate_while(frame& f, const node_data& n, value& out) {
    return detail::repeat_body(f, n, out, [&] {
        value condition;
        evaluate_operand(f, n, 0, condition);
        return truth_at(f, n, condition);
    });
}

flow evaluate_for(frame& f, const node_data& n, value& out) {
    value over;
    evaluate_operand(f, n, 0, over);
    const loop_range range(f, n, std::move(over));
    std::int64_t i = 0;
    return detail::repeat_body(f, n, out, [&] {
        if (i == range.count()) {
            return false;
        }
        f.at(n.slot) = range.at(i++);
        return true;
    });
}

flow evaluate_parallel_for(frame& f, const node_data& n, value& out) {
    value over;
    evaluate_operand(f, n, 0, over);
    const loop_range range(f, n, std::move(over));
    const auto iterations = [&](std::int64_t first, std::int64_t last, auto&& before_each) {
        frame own(f, n.own_variables);
        for (std::int64_t i = first; i < last; ++i) {
            before_each();
            own.clear_own();
            own.at(n.slot) = range.at(i);
            value dropped;
            evaluate(own, f.operand(n, 1), dropped);
        }
    };
    std::optional<serial_blas> resting;
    if (n.rests_blas) {
        resting.emplace(current_blas());
    }
    if (f.how.rule == inlining_rule::always || range.count() < 2) {
        iterations(0, range.count(), [&] { poll_stop(f); });
    } else {
        const grain how = f.how.rule == inlining_rule::never ? grain::fixed(1) : grain::automatic();
        parallel_chunks(n, range.count(), how, [&](std::int64_t first, std::int64_t last) {
            iterations(first, last, [] {});
        });
    }
    out = none();
    return flow::on;
}

}  // namespace quern::arrays::detail
