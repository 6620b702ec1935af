// SPDX-License-Identifier: BSL-1.0
// How a tree is built: every step is checked, so that evaluation need not.
#include "primitives/parameters.hpp"
#include "tree/decide.hpp"
#include "tree/statistics.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/scheduler/sites.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace quern::arrays {

namespace {

using detail::node_data;
using detail::tree_parts;

[[noreturn]] void refuse(const tree_parts& all, const source_range& where, const std::string& why) {
    throw std::invalid_argument(all.file + ":" + std::to_string(where.line) + ": in " + all.name +
                                ": " + why);
}

struct operand_rule {
    std::size_t least;
    std::size_t most;
};

constexpr std::size_t k_any = ~std::size_t(0);

operand_rule rule_of(node_kind kind) noexcept {
    switch (kind) {
        case node_kind::constant:
        case node_kind::load:
        case node_kind::leave:
        case node_kind::next:
            return {0, 0};
        case node_kind::store:
        case node_kind::negation:
        case node_kind::item:
            return {1, 1};
        case node_kind::result:
            return {0, 1};
        case node_kind::branch:
            return {2, 3};
        case node_kind::loop:
        case node_kind::for_each:
        case node_kind::parallel_for:
        case node_kind::both:
        case node_kind::either:
            return {2, 2};
        case node_kind::make_slice:
            return {3, 3};
        case node_kind::block:
        case node_kind::call:
        case node_kind::make_tuple:
        case node_kind::call_tree:
        case node_kind::call_foreign:
            break;
    }
    return {0, k_any};
}

std::string count_of_operands(const operand_rule& rule) {
    return rule.least == rule.most
               ? std::to_string(rule.least)
               : std::to_string(rule.least) + " to " + std::to_string(rule.most);
}

/// Whether break, continue and return may stand in that operand.
bool is_statement_place(node_kind kind, std::size_t operand) noexcept {
    switch (kind) {
        case node_kind::block:
            return true;
        case node_kind::branch:
        case node_kind::loop:
        case node_kind::for_each:
        case node_kind::parallel_for:
            return operand != 0;
        default:
            return false;
    }
}

bool uses_slot(node_kind kind) noexcept {
    return kind == node_kind::load || kind == node_kind::store || kind == node_kind::for_each ||
           kind == node_kind::parallel_for;
}

void check_operands(tree_parts& all, const node_data& made) {
    const operand_rule rule = rule_of(made.kind);
    const std::string kind(detail::name_of(made.kind));
    if (made.operands.size() < rule.least || made.operands.size() > rule.most) {
        refuse(all, made.where,
               "a node `" + kind + "` takes " + count_of_operands(rule) + " operands, not " +
                   std::to_string(made.operands.size()));
    }
    for (const tree::node each : made.operands) {
        if (each >= all.nodes.size()) {
            refuse(all, made.where,
                   "operand " + std::to_string(each) + " of `" + kind +
                       "` does not exist: the tree has " + std::to_string(all.nodes.size()) +
                       " nodes");
        }
        if (all.nodes[each].parent != tree::k_none ||
            std::count(made.operands.begin(), made.operands.end(), each) > 1) {
            refuse(all, made.where,
                   "operand " + std::to_string(each) + " of `" + kind + "` has a parent already");
        }
    }
    if (uses_slot(made.kind) && made.slot >= all.variables.size()) {
        refuse(all, made.where,
               "variable " + std::to_string(made.slot) + " of `" + kind + "` does not exist");
    }
}

/// How control may leave the node, from its operands.
void note_flow(tree_parts& all, node_data& made) {
    made.may_leave = made.kind == node_kind::leave;
    made.may_continue = made.kind == node_kind::next;
    made.may_return = made.kind == node_kind::result;
    for (std::size_t i = 0; i < made.operands.size(); ++i) {
        const node_data& each = all.nodes[made.operands[i]];
        if (!each.may_leave && !each.may_continue && !each.may_return) {
            continue;
        }
        const char* const what = each.may_return ? "return" : each.may_leave ? "break" : "continue";
        if (!is_statement_place(made.kind, i)) {
            refuse(all, each.where, std::string("`") + what + "` where a value is needed");
        }
        if (made.kind == node_kind::parallel_for && (each.may_return || each.may_leave)) {
            refuse(
                all, each.where,
                std::string("`") + what + "` in a parallel loop, whose iterations have no order");
        }
        const bool is_loop = made.kind == node_kind::loop || made.kind == node_kind::for_each ||
                             made.kind == node_kind::parallel_for;
        made.may_leave |= each.may_leave && !is_loop;
        made.may_continue |= each.may_continue && !is_loop;
        made.may_return |= each.may_return;
    }
}

void find_primitive_of(const tree_parts& all, node_data& made) {
    made.what = find_primitive(made.name);
    if (made.what == nullptr) {
        std::vector<std::string_view> names;
        for (const primitive& each : all_primitives()) {
            names.push_back(each.name);
        }
        refuse(all, made.where,
               "there is no primitive `" + made.name + "`; " +
                   quern::detail::accepted_values(made.name, names));
    }
    const std::vector<detail::parameter> wanted = detail::parameters_of(made.what->parameters);
    if (made.operands.size() > wanted.size()) {
        refuse(all, made.where,
               "`" + made.name + "` takes at most " + std::to_string(wanted.size()) +
                   " operands, not " + std::to_string(made.operands.size()));
    }
    for (std::size_t i = made.operands.size(); i < wanted.size(); ++i) {
        if (!wanted[i].preset) {
            refuse(all, made.where,
                   "`" + made.name + "` needs its operand `" + std::string(wanted[i].name) + "`");
        }
        made.presets.push_back(*wanted[i].preset);
    }
}

void read_length(const tree_parts& all, node_data& made) {
    const char* const end = made.name.data() + made.name.size();
    const auto read = std::from_chars(made.name.data(), end, made.length);
    if (!made.name.empty() && (read.ec != std::errc() || read.ptr != end || made.length < 0)) {
        refuse(all, made.where,
               "the name of a node `item` is a number of elements, not `" + made.name + "`");
    }
}

void require_unfinished(const tree_parts& all) {
    if (all.is_finished()) {
        throw std::logic_error("quern: tree " + all.name +
                               ": it is finished, nothing can be added");
    }
}

/// Checks the node, adds it, and gives its number.
tree::node add_checked(tree_parts& all, node_data&& made) {
    require_unfinished(all);
    check_operands(all, made);
    note_flow(all, made);
    if (made.kind == node_kind::call) {
        find_primitive_of(all, made);
    } else if (made.kind == node_kind::item) {
        read_length(all, made);
    }
    made.site = register_site({.language = all.language,
                               .function = all.name,
                               .file = all.file,
                               .line = std::max(made.where.line, 0)});
    const auto number = static_cast<tree::node>(all.nodes.size());
    const std::vector<tree::node> operands = made.operands;
    all.nodes.push_back(std::move(made));
    for (const tree::node each : operands) {
        all.nodes[each].parent = number;
    }
    return number;
}

}  // namespace

tree::tree(std::string name, std::string file, const std::vector<std::string>& parameters,
           std::string language)
    : m_parts(std::make_unique<detail::tree_parts>()) {
    detail::observe_inlining_setting();
    m_parts->name = std::move(name);
    m_parts->file = std::move(file);
    m_parts->language = std::move(language);
    for (const std::string& each : parameters) {
        if (variable(each) != m_parts->parameters++) {
            throw std::invalid_argument("quern: tree " + m_parts->name + ": the parameter `" +
                                        each + "` is there twice");
        }
    }
    m_parts->site = register_site({.language = m_parts->language,
                                   .function = m_parts->name,
                                   .file = m_parts->file,
                                   .line = 0});
}

tree::~tree() = default;
tree::tree(tree&&) noexcept = default;
tree& tree::operator=(tree&&) noexcept = default;

std::uint32_t tree::variable(std::string_view name) {
    std::vector<std::string>& all = m_parts->variables;
    const auto found = std::find(all.begin(), all.end(), name);
    if (found != all.end()) {
        return static_cast<std::uint32_t>(found - all.begin());
    }
    require_unfinished(*m_parts);
    all.emplace_back(name);
    return static_cast<std::uint32_t>(all.size() - 1u);
}

tree::node tree::add_constant(value of, const source_range& where) {
    return add_checked(*m_parts,
                       {.kind = node_kind::constant, .where = where, .constant = std::move(of)});
}

tree::node tree::add(node_kind kind, std::vector<node> operands, const source_range& where,
                     std::string_view name, std::uint32_t slot) {
    if (kind == node_kind::constant || kind == node_kind::call_tree ||
        kind == node_kind::call_foreign) {
        refuse(*m_parts, where,
               "a node `" + std::string(detail::name_of(kind)) +
                   "` is added by add_constant, add_call_of and add_foreign");
    }
    return add_checked(*m_parts, {.kind = kind,
                                  .slot = slot,
                                  .operands = std::move(operands),
                                  .where = where,
                                  .name = std::string(name)});
}

tree::node tree::add_call_of(std::shared_ptr<const tree> other, std::vector<node> operands,
                             const source_range& where) {
    if (other == nullptr) {
        refuse(*m_parts, where, "add_call_of: no tree is given");
    }
    node_data made{.kind = node_kind::call_tree,
                   .operands = std::move(operands),
                   .where = where,
                   .name = other->name()};
    made.calls_itself = other.get() == this;
    if (made.operands.size() != tree_parts::of(*other).parameters) {
        refuse(*m_parts, where,
               other->name() + "() takes " + std::to_string(tree_parts::of(*other).parameters) +
                   " arguments, not " + std::to_string(made.operands.size()));
    }
    made.other = made.calls_itself ? nullptr : std::move(other);
    return add_checked(*m_parts, std::move(made));
}

tree::node tree::add_foreign(foreign_function function, std::string_view name,
                             std::vector<node> operands, const source_range& where) {
    if (!function) {
        refuse(*m_parts, where, "add_foreign: no function is given");
    }
    return add_checked(*m_parts, {.kind = node_kind::call_foreign,
                                  .operands = std::move(operands),
                                  .where = where,
                                  .name = std::string(name),
                                  .function = std::move(function)});
}

void tree::finish(node root) {
    tree_parts& all = *m_parts;
    require_unfinished(all);
    if (root >= all.nodes.size() || all.nodes[root].parent != k_none) {
        throw std::invalid_argument("quern: tree " + all.name + ": node " + std::to_string(root) +
                                    " cannot be the root: it " +
                                    (root >= all.nodes.size() ? "does not exist" : "has a parent"));
    }
    if (all.nodes[root].may_leave || all.nodes[root].may_continue) {
        refuse(all, all.nodes[root].where, "`break` or `continue` outside of a loop");
    }
    all.counts.make(all.nodes.size());
    all.decisions = std::make_unique<detail::node_decisions[]>(all.nodes.size());
    detail::analyse(all, root);
    all.root = root;
    detail::add_to_counters(all);
}

const std::string& tree::name() const noexcept { return m_parts->name; }

std::size_t tree::nodes() const noexcept { return m_parts->nodes.size(); }

}  // namespace quern::arrays
