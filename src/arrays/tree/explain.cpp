// SPDX-License-Identifier: BSL-1.0
// explain(): what the nodes of a tree did and why they were tasks or not, as text.
#include "tree/decide.hpp"
#include "tree/statistics.hpp"

#include <quern/base/detail/text.hpp>

#include <fstream>
#include <map>
#include <stdexcept>

namespace quern::arrays {

namespace {

using detail::node_data;
using detail::tree_parts;
using quern::detail::left;
using quern::detail::right;

/// The lines of the source that nodes come from; empty ones if the file cannot be read.
std::map<int, std::string> source_lines(const tree_parts& all) {
    constexpr std::size_t k_longest = 100;
    std::map<int, std::string> wanted;
    for (const node_data& each : all.nodes) {
        wanted[each.where.line];
    }
    std::ifstream file(all.file);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        const auto found = wanted.find(line);
        const std::size_t first = text.find_first_not_of(" \t");
        if (found != wanted.end() && first != std::string::npos) {
            found->second = quern::detail::one_line(text.substr(first), k_longest);
        }
    }
    return wanted;
}

std::string mean_words(std::uint64_t total_ns, std::uint64_t evaluations) {
    return evaluations == 0 || total_ns == 0
               ? "-"
               : quern::detail::duration_words(static_cast<double>(total_ns) /
                                               static_cast<double>(evaluations));
}

std::string share_words(const node_statistics& of) {
    if (of.evaluations == 0) {
        return "-";
    }
    return quern::detail::percent_words(static_cast<double>(of.inlined) /
                                        static_cast<double>(of.evaluations));
}

std::string line_of(const tree_parts& all, const detail::placed_node& at) {
    constexpr std::size_t k_number = 11;
    constexpr std::size_t k_node = 30;
    const node_data& n = all.nodes[at.number];
    const node_statistics counted = detail::statistics_of(all, at.number);
    const std::string node = std::string(2u * std::min(at.depth, 20u), ' ') + all.words_of(n);
    return "  " + arrays::left(node, k_node) +
           arrays::right(std::to_string(counted.evaluations), k_number) +
           arrays::right(mean_words(counted.inclusive_ns, counted.evaluations), k_number) +
           arrays::right(mean_words(counted.exclusive_ns, counted.evaluations), k_number) +
           arrays::right(share_words(counted), k_number) + "  " +
           quern::detail::one_line(detail::reason_of(all, n)) + "\n";
}

}  // namespace

std::string tree::explain() const {
    const tree_parts& all = *m_parts;
    if (!all.is_finished()) {
        throw std::logic_error("quern: tree " + all.name + ": explain() before finish()");
    }
    std::string text =
        all.name + " (" + all.file + "), " +
        quern::detail::count_words(all.calls.load(std::memory_order_relaxed), "call") +
        ". Times are means; `own` is without the operands; `in place` is the share "
        "that was no task.\n";
    text += "  " + arrays::left("node", 30) + arrays::right("evaluated", 11) +
            arrays::right("time", 11) + arrays::right("own", 11) + arrays::right("in place", 11) +
            "  why\n";
    const std::map<int, std::string> source = source_lines(all);
    int line = -1;
    for (const detail::placed_node& each : detail::in_order(all)) {
        const node_data& n = all.nodes[each.number];
        if (n.kind == node_kind::constant || n.kind == node_kind::load) {
            continue;
        }
        if (n.where.line != line) {
            line = n.where.line;
            const std::string& words = source.at(line);
            text += std::to_string(line) + (words.empty() ? ":" : ": " + words) + "\n";
        }
        text += line_of(all, each);
    }
    return text;
}

}  // namespace quern::arrays
