// SPDX-License-Identifier: BSL-1.0
// The parts of a tree: its nodes, which do not change after finish(), and what is counted and
// decided for each. Who may touch what: README.md.
#pragma once

#include "tree/node_counts.hpp"

#include <quern/arrays/tree.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quern::arrays::detail {

struct operation;

using node_number = tree::node;

/// A set of small numbers: of variables, or of groups of them.
class number_set {
public:
    explicit number_set(std::size_t most = 0) : m_words((most + 63u) / 64u, 0u) {}

    void add(std::size_t i) noexcept { m_words[i / 64u] |= std::uint64_t{1} << (i % 64u); }
    void remove(std::size_t i) noexcept { m_words[i / 64u] &= ~(std::uint64_t{1} << (i % 64u)); }
    bool has(std::size_t i) const noexcept { return (m_words[i / 64u] >> (i % 64u) & 1u) != 0; }
    void add_all(const number_set& other) noexcept;
    bool meets(const number_set& other) const noexcept;
    /// Calls f(i) for each member.
    template <class F>
    void each(F&& f) const {
        for (std::size_t i = 0; i < 64u * m_words.size(); ++i) {
            if (has(i)) {
                f(i);
            }
        }
    }

private:
    std::vector<std::uint64_t> m_words;
};

/// How control leaves a node.
enum class flow : std::uint8_t { on, leave, next, result };

/// Operands that are evaluated together: those that may run at the same time are one wave. The
/// numbers are places in node_data::operands.
struct operand_waves {
    std::vector<std::uint32_t> order{};  ///< wave after wave, within each as in the source
    std::vector<std::uint32_t> ends{};   ///< of each wave in `order`
};

struct node_data {
    node_kind kind = node_kind::constant;
    bool is_cheap = false;     ///< takes some ns: always in its parent's place, not measured
    bool may_be_task = false;  ///< not cheap, without effects that must keep their order
    bool has_waves = false;    ///< there is a wave of two operands that may be tasks
    bool calls_itself = false;
    /// Control may leave it by break, continue or return; set when the node is added.
    bool may_leave = false;
    bool may_continue = false;
    bool may_return = false;
    /// Its elements may be computed by its parent, an elementwise node as well.
    bool may_defer = false;
    std::uint8_t deferring = 0;  ///< bits: its operands that may
    std::uint8_t lent = 0;       ///< bits: its operands that are variables it need not share
    bool rests_blas = false;     ///< a parallel_for during which the library's threads rest
    std::uint32_t slot = 0;
    std::int64_t length = -1;  ///< of the tuple that `item` takes apart; below 0: not said
    node_number parent = tree::k_none;
    std::vector<node_number> operands{};
    operand_waves waves{};
    source_range where{};
    std::string name{};
    const primitive* what = nullptr;
    const operation* chained = nullptr;  ///< of a node with an operand or a parent to fuse with
    value constant{};
    std::vector<value> presets{};  ///< the primitive's last parameters
    std::shared_ptr<const tree> other{};
    foreign_function function{};
    const void* site = nullptr;
    std::vector<std::uint32_t> own_variables{};  ///< of an iteration of parallel_for
};

/// What callers of a tree must know of it.
struct tree_effects {
    bool must_keep_order = false;  ///< foreign calls, writes to arrays that others see
    bool gives_outside = false;    ///< the result may be memory that is no argument's
    bool operator==(const tree_effects&) const noexcept = default;
};

struct tree_parts {
    tree_parts() = default;
    tree_parts(const tree_parts&) = delete;
    tree_parts& operator=(const tree_parts&) = delete;
    ~tree_parts();

    std::string name{};
    std::string file{};
    std::string language{};
    std::uint32_t parameters = 0;
    std::vector<std::string> variables{};
    std::vector<node_data> nodes{};
    node_number root = tree::k_none;
    tree_effects effects{};
    const void* site = nullptr;
    /// For each node, made by finish().
    mutable count_shares counts{};
    std::unique_ptr<node_decisions[]> decisions{};
    mutable std::atomic<std::uint64_t> calls{0};

    bool is_finished() const noexcept { return root != tree::k_none; }
    /// Of a finished tree; `n` is one of its nodes.
    node_number number_of(const node_data& n) const noexcept {
        return static_cast<node_number>(&n - nodes.data());
    }
    static const tree_parts& of(const tree& one) noexcept { return *one.m_parts; }
    /// "file.py:12".
    std::string place_of(const node_data& n) const;
    /// "add", "x =", "for": for people.
    std::string words_of(const node_data& n) const;
};

/// As node_kind spells it: "parallel_for".
std::string_view name_of(node_kind kind) noexcept;

/// Finds which operands may run at the same time and which nodes may be tasks. The last step of
/// finish(). Throws std::bad_alloc.
void analyse(tree_parts& all, node_number root);

}  // namespace quern::arrays::detail
