// SPDX-License-Identifier: BSL-1.0
// Calls of trees.
#include "tree/decide.hpp"
#include "tree/evaluate.hpp"

#include <quern/scheduler/detail/context.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/run_on.hpp>

#include <stdexcept>

namespace quern::arrays {

namespace {

[[noreturn]] QUERN_COLD void refuse_arguments(const detail::tree_parts& all, std::size_t given) {
    std::string names;
    for (std::uint32_t i = 0; i < all.parameters; ++i) {
        names += (i == 0 ? "" : ", ") + all.variables[i];
    }
    throw std::invalid_argument("quern: " + all.name + "(" + names + ") takes " +
                                std::to_string(all.parameters) + " arguments, not " +
                                std::to_string(given));
}

/// On a worker.
value run_here(const detail::tree_parts& all, std::span<const value> arguments,
               inlining_rule rule) {
    const detail::call_rule how = detail::rule_of_call(rule);
    values own(arguments.begin(), arguments.end());
    detail::frame first(all, how, 0, own);
    all.calls.fetch_add(1, std::memory_order_relaxed);
    return detail::run_body(first);
}

}  // namespace

value tree::operator()(std::span<const value> arguments, inlining_rule rule) const {
    const detail::tree_parts& all = *m_parts;
    if (!all.is_finished()) {
        throw std::logic_error("quern: tree " + all.name + ": it is called before finish()");
    }
    if (arguments.size() != all.parameters) {
        refuse_arguments(all, arguments.size());
    }
    if (quern::detail::current_worker() == nullptr) {
        return quern::detail::run_on(current_pool().get(), all.site,
                                     [&] { return run_here(all, arguments, rule); });
    }
    return quern::detail::on_enough_stack([&] { return run_here(all, arguments, rule); });
}

}  // namespace quern::arrays
