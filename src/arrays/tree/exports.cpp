// SPDX-License-Identifier: BSL-1.0
// A tree as DOT (Graphviz), Newick and JSON.
#include "tree/decide.hpp"
#include "tree/statistics.hpp"

#include <quern/base/detail/json.hpp>
#include <quern/base/detail/text.hpp>

#include <stdexcept>

namespace quern::arrays {

namespace {

using detail::node_data;
using detail::tree_parts;

void require_finished(const tree_parts& all, const char* what) {
    if (!all.is_finished()) {
        throw std::logic_error("quern: tree " + all.name + ": " + what + " before finish()");
    }
}

/// In double quotes, as DOT has text.
std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char each : quern::detail::one_line(text)) {
        made += each == '"' || each == '\\' ? std::string("\\") + each : std::string(1, each);
    }
    return made + "\"";
}

/// A label of Newick: in single quotes, which are doubled inside.
std::string newick_label(const std::string& text) {
    std::string made = "'";
    for (const char each : quern::detail::one_line(text)) {
        made += each == '\'' ? "''" : std::string(1, each);
    }
    return made + "'";
}

void write_node(quern::detail::json& out, const tree_parts& all, tree::node number) {
    const node_data& n = all.nodes[number];
    const node_statistics counted = detail::statistics_of(all, number);
    out.open('{').field("id", number);
    if (n.parent != tree::k_none) {
        out.field("parent", n.parent);
    }
    out.fields("kind", detail::name_of(n.kind), "name", all.words_of(n), "line", n.where.line,
               "column", n.where.column, "end_line", n.where.end_line, "end_column",
               n.where.end_column, "evaluations", counted.evaluations, "inlined", counted.inlined,
               "inclusive_ns", counted.inclusive_ns, "exclusive_ns", counted.exclusive_ns,
               "may_be_task", n.may_be_task, "reason", detail::reason_of(all, n));
    out.field("decision", counted.evaluations == 0                 ? "none"
                          : counted.inlined == counted.evaluations ? "inlined"
                          : counted.inlined == 0                   ? "task"
                                                                   : "both");
    out.close();
}

}  // namespace

std::string tree::to_dot() const {
    const tree_parts& all = *m_parts;
    require_finished(all, "to_dot()");
    std::string text = "digraph " + arrays::quoted(all.name) + " {\n";
    for (const detail::placed_node& each : detail::in_order(all)) {
        const node_data& n = all.nodes[each.number];
        const node_statistics counted = detail::statistics_of(all, each.number);
        const bool had_tasks = counted.inlined < counted.evaluations;
        text += "  n" + std::to_string(each.number) + " [label=" +
                arrays::quoted(all.words_of(n) + " (" + std::to_string(n.where.line) + ")") +
                (had_tasks ? ", style=filled" : "") + "];\n";
        if (each.number != all.root) {
            text +=
                "  n" + std::to_string(n.parent) + " -> n" + std::to_string(each.number) + ";\n";
        }
    }
    return text + "}\n";
}

std::string tree::to_newick() const {
    const tree_parts& all = *m_parts;
    require_finished(all, "to_newick()");
    struct step {
        node number;
        std::size_t next;  ///< operand
    };
    std::string text;
    std::vector<step> open{{all.root, 0}};
    while (!open.empty()) {
        step& top = open.back();
        const node_data& n = all.nodes[top.number];
        if (top.next < n.operands.size()) {
            text += top.next == 0 ? "(" : ",";
            const node operand = n.operands[top.next++];
            open.push_back({operand, 0});
            continue;
        }
        text += (n.operands.empty() ? "" : ")") + newick_label(all.words_of(n));
        open.pop_back();
    }
    return text + ";\n";
}

std::string tree::to_json() const {
    const tree_parts& all = *m_parts;
    require_finished(all, "to_json()");
    quern::detail::json out;
    out.open('{').fields("name", all.name, "file", all.file, "language", all.language, "calls",
                         all.calls.load(std::memory_order_relaxed), "root", all.root);
    out.list("variables", all.variables).open('[', "nodes");
    for (const detail::placed_node& each : detail::in_order(all)) {
        write_node(out, all, each.number);
    }
    out.close().close();
    return out.take();
}

}  // namespace quern::arrays
