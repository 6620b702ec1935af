// SPDX-License-Identifier: BSL-1.0
// The variables of a call of a tree, and of an iteration of a parallel loop in it.
#pragma once

#include "tree/nodes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace quern::arrays::detail {

/// Empty: it has no value yet.
using variable = std::optional<value>;

/// How the nodes of a call are decided about: the same in all trees that it calls.
struct call_rule {
    inlining_rule rule = inlining_rule::quern;  ///< not `settings`
    bool is_applied = true;                     ///< false: decisions are only logged
    bool has_one_worker = false;
    bool tasks_alone = false;  ///< a node may be a task though its parent only waits for it
    bool times_all = false;    ///< every evaluation is timed
    double short_ticks = 0;    ///< below this a node is short, by the rule quern
};

/// Used by the task that runs the call and its child tasks, at the same time: analyse() has seen to
/// it that a variable is not written while another child uses it.
class frame {
public:
    /// The arguments are moved from.
    frame(const tree_parts& function, const call_rule& rule, std::uint32_t nesting,
          std::span<value> arguments)
        : of(function),
          how(rule),
          depth(nesting),
          size_class(class_of(arguments)),
          m_counts(function.counts.of_caller()),
          m_own_size(function.variables.size()),
          m_own(std::make_unique<variable[]>(m_own_size)) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            m_own[i] = std::move(arguments[i]);
        }
    }

    /// Of iterations, one after the other: `own` variables are new, the others those of `outer`.
    frame(frame& outer, std::span<const std::uint32_t> own)
        : of(outer.of),
          how(outer.how),
          depth(outer.depth),
          size_class(outer.size_class),
          m_counts(of.counts.of_caller()),
          m_own_size(own.size()),
          m_own(std::make_unique<variable[]>(m_own_size)),
          m_table(std::make_unique<variable*[]>(of.variables.size())) {
        for (std::uint32_t i = 0; i < of.variables.size(); ++i) {
            m_table[i] = &outer.at(i);
        }
        for (std::size_t i = 0; i < own.size(); ++i) {
            m_table[own[i]] = &m_own[i];
        }
    }

    variable& at(std::uint32_t slot) noexcept {
        return m_table != nullptr ? *m_table[slot] : m_own[slot];
    }
    /// For the next iteration: its own variables have no values any more.
    void clear_own() noexcept {
        for (std::size_t i = 0; i < m_own_size; ++i) {
            m_own[i].reset();
        }
    }
    node_counts& counts_of(const node_data& n) const noexcept { return m_counts[of.number_of(n)]; }
    node_decisions& decisions_of(const node_data& n) const noexcept {
        return of.decisions[of.number_of(n)];
    }
    const node_data& operand(const node_data& n, std::size_t i) const noexcept {
        return of.nodes[n.operands[i]];
    }

    const tree_parts& of;
    const call_rule& how;
    const std::uint32_t depth;  ///< calls of trees around this one
    const std::uint32_t size_class;

private:
    static std::uint32_t class_of(std::span<const value> arguments) noexcept;

    node_counts* const m_counts;
    const std::size_t m_own_size;
    std::unique_ptr<variable[]> m_own;
    std::unique_ptr<variable* []> m_table {};  ///< null: m_own has all
};

}  // namespace quern::arrays::detail
