// SPDX-License-Identifier: BSL-1.0
// Which operands may run at the same time. From the variables that each reads and writes, the
// arrays that it changes in place, and effects that others see. Nodes are numbered so that operands
// precede their parent, so each pass is a loop. Why the result is right: README.md.
#include "primitives/chains.hpp"
#include "primitives/families.hpp"
#include "tree/nodes.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace quern::arrays::detail {

namespace {

/// Of a node with all below it.
struct node_effects {
    explicit node_effects(std::size_t groups)
        : aliases(groups), reads(groups), writes(groups), changed(groups) {}

    /// Variables whose arrays the node's value may share memory with; the last number stands for
    /// memory from outside: arguments, constants, results of foreign functions.
    number_set aliases;
    number_set reads;    ///< variables
    number_set writes;   ///< variables
    number_set changed;  ///< groups of variables whose arrays are changed in place
    bool keeps_order = false;
    bool uses_blas = false;
    bool calls_others = false;  ///< foreign functions, trees
};

/// Groups of variables that may share memory: union-find.
class variable_groups {
public:
    explicit variable_groups(std::size_t count) : m_of(count) {
        std::iota(m_of.begin(), m_of.end(), std::size_t{0});
    }
    std::size_t of(std::size_t i) noexcept {
        while (m_of[i] != i) {
            i = m_of[i] = m_of[m_of[i]];
        }
        return i;
    }
    void join(std::size_t a, std::size_t b) noexcept { m_of[of(a)] = of(b); }

private:
    std::vector<std::size_t> m_of;
};

/// Primitives that are not elementwise, and whose results never share memory with an operand.
constexpr auto k_fresh = std::to_array<std::string_view>(
    {"all",         "amax",          "amin",       "any",      "append",      "arange",
     "argmax",      "argmin",        "argsort",    "bincount", "cholesky",    "column_stack",
     "concatenate", "count_nonzero", "cumprod",    "cumsum",   "dot",         "dtype",
     "eigh",        "empty",         "empty_like", "eye",      "flatnonzero", "flatten",
     "full",        "full_like",     "hstack",     "identity", "integers",    "inv",
     "inverse",     "item",          "itemsize",   "len",      "linspace",    "lu",
     "matmul",      "max",           "mean",       "min",      "nbytes",      "ndim",
     "nonzero",     "norm",          "normal",     "ones",     "ones_like",   "outer",
     "permutation", "prod",          "ptp",        "qr",       "random",      "repeat",
     "roll",        "searchsorted",  "shape",      "size",     "solve",       "sort",
     "stack",       "std",           "sum",        "svd",      "tile",        "to_bool",
     "to_float",    "to_int",        "trace",      "unique",   "var",         "vstack",
     "zeros",       "zeros_like"});

static_assert(std::is_sorted(k_fresh.begin(), k_fresh.end()));

bool is_of_linear_algebra(const primitive& what) {
    return std::ranges::any_of(linear_algebra_primitives(),
                               [&](const primitive& each) { return each.name == what.name; });
}

bool gives_fresh(const primitive& what) noexcept {
    return what.is_elementwise || std::binary_search(k_fresh.begin(), k_fresh.end(), what.name);
}

/// Whether a value holds an array, so that it may share memory.
bool holds_array(const value& of) noexcept {
    const tuple* const elements = of.as<tuple>();
    return of.is<array>() || of.is<foreign>() ||
           (elements != nullptr && *elements != nullptr &&
            std::any_of((*elements)->begin(), (*elements)->end(), holds_array));
}

class analysis {
public:
    explicit analysis(tree_parts& all)
        : m_all(all),
          m_outside(all.variables.size()),
          m_groups(m_outside + 1u),
          m_effects(all.nodes.size(), node_effects(m_outside + 1u)) {
        for (std::size_t i = 0; i < all.parameters; ++i) {
            m_groups.join(i, m_outside);
        }
    }

    void run(node_number root) {
        tree_effects before;
        do {  // again if the tree calls itself and has effects
            before = m_all.effects;
            find_aliases();
            for (std::size_t i = 0; i < m_all.nodes.size(); ++i) {
                find_effects(m_all.nodes[i], m_effects[i]);
            }
            m_all.effects.must_keep_order |= m_effects[root].keeps_order;
        } while (!(before == m_all.effects));
        for (std::size_t i = 0; i < m_all.nodes.size(); ++i) {
            find_cheap(m_all.nodes[i], m_effects[i]);
            find_waves(m_all.nodes[i]);
            find_chain(m_all.nodes[i]);
            find_lent(m_all.nodes[i]);
        }
    }

private:
    node_effects& effects_of(node_number n) noexcept { return m_effects[n]; }

    // -- which variables may share memory ---------------------------------------------------------

    void find_aliases() {
        for (std::size_t i = 0; i < m_all.nodes.size(); ++i) {
            const node_data& n = m_all.nodes[i];
            find_aliases_of(n, m_effects[i].aliases);
            const bool stores = n.kind == node_kind::store || n.kind == node_kind::for_each ||
                                n.kind == node_kind::parallel_for;
            if (stores) {
                effects_of(n.operands[0]).aliases.each([&](std::size_t each) {
                    m_groups.join(n.slot, each);
                });
            } else if (n.kind == node_kind::call_foreign ||
                       (n.kind == node_kind::call_tree && effects_of_called(n).must_keep_order)) {
                // It may keep what it gets.
                for (const node_number operand : n.operands) {
                    effects_of(operand).aliases.each(
                        [&](std::size_t each) { m_groups.join(m_outside, each); });
                }
            }
        }
    }

    void find_aliases_of(const node_data& n, number_set& aliases) {
        switch (n.kind) {
            case node_kind::constant:
                if (holds_array(n.constant)) {
                    aliases.add(m_outside);
                    m_all.effects.gives_outside = true;
                }
                return;
            case node_kind::load:
                aliases.add(n.slot);
                return;
            case node_kind::call:
                if (n.what->writes_first_operand) {
                    aliases.add_all(effects_of(n.operands[0]).aliases);
                    return;
                }
                if (gives_fresh(*n.what)) {
                    return;
                }
                break;
            case node_kind::call_tree:
                if (effects_of_called(n).gives_outside) {
                    aliases.add(m_outside);
                    m_all.effects.gives_outside = true;
                }
                break;
            case node_kind::call_foreign:
                aliases.add(m_outside);
                m_all.effects.gives_outside = true;
                return;
            case node_kind::negation:
            case node_kind::store:
                return;
            default:
                break;
        }
        for (const node_number each : n.operands) {
            aliases.add_all(effects_of(each).aliases);
        }
    }

    /// Of a tree that is not finished the worst is assumed.
    tree_effects effects_of_called(const node_data& n) const noexcept {
        if (n.calls_itself) {
            return m_all.effects;
        }
        const tree_parts& other = tree_parts::of(*n.other);
        return other.is_finished() ? other.effects : tree_effects{true, true};
    }

    // -- what each node reads and writes ----------------------------------------------------------

    void find_effects(node_data& n, node_effects& own) {
        for (const node_number each : n.operands) {
            const node_effects& of = effects_of(each);
            own.reads.add_all(of.reads);
            own.writes.add_all(of.writes);
            own.changed.add_all(of.changed);
            own.keeps_order |= of.keeps_order;
            own.uses_blas |= of.uses_blas;
            own.calls_others |= of.calls_others;
        }
        own.calls_others |= n.kind == node_kind::call_foreign || n.kind == node_kind::call_tree;
        if (n.kind == node_kind::load) {
            own.reads.add(n.slot);
        } else if (n.kind == node_kind::store || n.kind == node_kind::for_each) {
            own.writes.add(n.slot);
        } else if (n.kind == node_kind::parallel_for) {
            find_own_variables(n, own);
        } else if (n.kind == node_kind::call) {
            find_effects_of_call(n, own);
        } else if (n.kind == node_kind::call_foreign) {
            own.keeps_order = true;
        } else if (n.kind == node_kind::call_tree) {
            own.keeps_order |= effects_of_called(n).must_keep_order;
        }
    }

    void find_effects_of_call(const node_data& n, node_effects& own) {
        own.uses_blas |= is_of_linear_algebra(*n.what);
        if (!n.what->writes_first_operand) {
            return;
        }
        effects_of(n.operands[0]).aliases.each([&](std::size_t each) {
            const std::size_t group = m_groups.of(each);
            own.changed.add(group);
            own.keeps_order |= group == m_groups.of(m_outside);
        });
    }

    /// What the body stores belongs to the iteration: it is neither read nor written outside.
    void find_own_variables(node_data& n, node_effects& own) {
        const node_effects body = effects_of(n.operands[1]);
        n.rests_blas = body.uses_blas && !body.calls_others;
        const node_effects& range = effects_of(n.operands[0]);
        n.own_variables.assign(1, n.slot);
        body.writes.each([&](std::size_t each) {
            if (each != n.slot) {
                n.own_variables.push_back(static_cast<std::uint32_t>(each));
            }
        });
        own.reads = body.reads;
        for (const std::uint32_t each : n.own_variables) {
            own.reads.remove(each);
        }
        own.reads.add_all(range.reads);
        own.writes = range.writes;
    }

    // -- what follows -----------------------------------------------------------------------------

    void find_cheap(node_data& n, const node_effects& own) const {
        const bool has_cheap_operands =
            std::all_of(n.operands.begin(), n.operands.end(),
                        [&](node_number each) { return m_all.nodes[each].is_cheap; });
        switch (n.kind) {
            case node_kind::call:
            case node_kind::call_tree:
            case node_kind::call_foreign:
            case node_kind::loop:
            case node_kind::for_each:
            case node_kind::parallel_for:
                n.is_cheap = false;
                break;
            default:
                n.is_cheap = has_cheap_operands;
                break;
        }
        n.may_be_task =
            !n.is_cheap && !own.keeps_order && !n.may_leave && !n.may_continue && !n.may_return;
    }

    bool touches_changed(const node_effects& changer, const node_effects& other) {
        bool found = false;
        const auto look = [&](std::size_t each) {
            found = found || changer.changed.has(m_groups.of(each));
        };
        other.reads.each(look);
        other.writes.each(look);
        return found || changer.changed.meets(other.changed);
    }

    bool must_precede(node_number first, node_number second) {
        const node_data& a = m_all.nodes[first];
        const node_data& b = m_all.nodes[second];
        const auto leaves = [](const node_data& n) {
            return n.may_leave || n.may_continue || n.may_return;
        };
        const node_effects& of_a = effects_of(first);
        const node_effects& of_b = effects_of(second);
        return leaves(a) || leaves(b) || of_a.keeps_order || of_b.keeps_order ||
               of_a.writes.meets(of_b.reads) || of_a.writes.meets(of_b.writes) ||
               of_a.reads.meets(of_b.writes) || touches_changed(of_a, of_b) ||
               touches_changed(of_b, of_a);
    }

    static bool evaluates_all_operands(node_kind kind) noexcept {
        return kind == node_kind::block || kind == node_kind::call ||
               kind == node_kind::make_tuple || kind == node_kind::make_slice ||
               kind == node_kind::call_tree || kind == node_kind::call_foreign;
    }

    void find_waves(node_data& n) {
        const std::size_t count = n.operands.size();
        const auto candidates =
            std::count_if(n.operands.begin(), n.operands.end(),
                          [&](node_number each) { return m_all.nodes[each].may_be_task; });
        if (!evaluates_all_operands(n.kind) || candidates < 2) {
            return;
        }
        std::vector<std::uint32_t> wave(count, 0);
        std::uint32_t last = 0;
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                if (wave[k] >= wave[i] && must_precede(n.operands[k], n.operands[i])) {
                    wave[i] = wave[k] + 1u;
                }
            }
            last = std::max(last, wave[i]);
        }
        for (std::uint32_t w = 0; w <= last; ++w) {
            std::size_t tasks = 0;
            for (std::uint32_t i = 0; i < count; ++i) {
                if (wave[i] == w) {
                    n.waves.order.push_back(i);
                    tasks += m_all.nodes[n.operands[i]].may_be_task ? 1u : 0u;
                }
            }
            n.waves.ends.push_back(static_cast<std::uint32_t>(n.waves.order.size()));
            n.has_waves |= tasks >= 2;
        }
        if (!n.has_waves) {
            n.waves = {};
        }
    }

    // -- arrays that are not shared to be read ----------------------------------------------------

    /// A variable may be lent to a primitive that keeps no operand, if no other operand stores it.
    void find_lent(node_data& n) {
        const bool keeps_none =
            n.kind == node_kind::call && (n.what->name == "getitem" || n.what->name == "setitem" ||
                                          (gives_fresh(*n.what) && !n.what->writes_first_operand));
        for (std::size_t i = 0; keeps_none && i < std::min<std::size_t>(n.operands.size(), 8);
             ++i) {
            const node_data& operand = m_all.nodes[n.operands[i]];
            const bool is_free = std::none_of(
                n.operands.begin(), n.operands.end(),
                [&](node_number other) { return effects_of(other).writes.has(operand.slot); });
            if (operand.kind == node_kind::load && is_free) {
                n.lent = static_cast<std::uint8_t>(n.lent | 1u << i);
            }
        }
    }

    // -- elementwise nodes that are computed together ---------------------------------------------

    /// Whether arrays are as before when it has been evaluated.
    bool changes_nothing(node_number n) noexcept {
        const node_effects& of = effects_of(n);
        return !of.keeps_order && !of.changed.meets(of.changed);
    }

    /// An operand may leave its elements to its parent if nothing that is evaluated in between
    /// changes what it reads.
    void find_chain(node_data& n) {
        n.chained = n.kind == node_kind::call ? chain_operation_of(*n.what) : nullptr;
        if (n.chained == nullptr) {
            return;
        }
        for (std::size_t i = n.operands.size(); i-- > 0;) {
            node_data& operand = m_all.nodes[n.operands[i]];
            if (operand.chained != nullptr) {
                operand.may_defer = true;
                n.deferring = static_cast<std::uint8_t>(n.deferring | 1u << i);
            }
            if (!changes_nothing(n.operands[i])) {
                return;
            }
        }
    }

    tree_parts& m_all;
    const std::size_t m_outside;
    variable_groups m_groups;
    std::vector<node_effects> m_effects;
};

}  // namespace

void analyse(tree_parts& all, node_number root) { analysis(all).run(root); }

}  // namespace quern::arrays::detail
