// SPDX-License-Identifier: BSL-1.0
// Operands at the same time. Waves run one after the other; in each all long operands but the last
// become tasks. The error is that of the first operand in the order of the source that has one, as
// if they had run in that order: after an error the operands before it are still evaluated, those
// behind it no more.
#include "tree/decide.hpp"
#include "tree/evaluate.hpp"

#include <quern/task/async.hpp>

#include <exception>
#include <limits>
#include <vector>

namespace quern::arrays::detail {

namespace {

task_attributes attributes_of(const node_data& n) {
    task_attributes made{.site = n.site, .instance = &n};
    if (quern::detail::running_signal() != nullptr) {
        made.stop = this_task::stop_token();
    }
    return made;
}

class wave_run {
public:
    wave_run(frame& f, const node_data& n, value* outs, value* returned) noexcept
        : m_frame(f), m_node(n), m_outs(outs), m_returned(returned) {}

    flow all() {
        std::size_t begin = 0;
        for (const std::uint32_t end : m_node.waves.ends) {
            if (end - begin > 1) {
                wave(begin, end);
            } else if (const flow how = here(m_node.waves.order[begin]); how != flow::on) {
                if (m_error == nullptr) {
                    return how;
                }
            }
            begin = end;
        }
        if (m_error != nullptr) {
            std::rethrow_exception(std::move(m_error));
        }
        if (m_returned != nullptr) {
            *m_returned = none();
        }
        return flow::on;
    }

private:
    struct started {
        std::uint32_t operand;
        future<void> end;
    };

    /// Operands that can leave by control are alone in their wave.
    void wave(std::size_t begin, std::size_t end) noexcept {
        std::size_t wanted = 0;
        std::size_t last = end;
        for (std::size_t i = begin; i < end; ++i) {
            if (wants(m_node.waves.order[i])) {
                ++wanted;
                last = i;
            }
        }
        // The last one runs here, and a single one has nothing to run beside it.
        const std::size_t most = m_frame.how.tasks_alone ? wanted : wanted - (wanted > 0 ? 1u : 0u);
        if (most == 0) {
            for (std::size_t i = begin; i < end; ++i) {
                here(m_node.waves.order[i]);
            }
            return;
        }
        with_tasks(begin, end, most, m_frame.how.tasks_alone ? end : last);
    }

    /// So many of the wave's operands become tasks; `left` is none of them.
    void with_tasks(std::size_t begin, std::size_t end, std::size_t tasks,
                    std::size_t left) noexcept {
        std::vector<started> running;
        std::vector<std::uint32_t> rest;
        try {
            running.reserve(tasks);
            rest.reserve(end - begin);
        } catch (const std::bad_alloc&) {
            tasks = 0;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t operand = m_node.waves.order[i];
            if (tasks == 0) {
                here(operand);
            } else if (running.size() == tasks || i == left || !wants(operand) ||
                       !start(running, operand)) {
                rest.push_back(operand);
            }
        }
        for (const std::uint32_t operand : rest) {
            here(operand);
        }
        for (std::size_t i = running.size(); i-- > 0;) {
            wait_for(running[i]);
        }
    }

    const node_data& operand_at(std::uint32_t operand) const noexcept {
        return m_frame.operand(m_node, operand);
    }

    bool wants(std::uint32_t operand) const noexcept {
        const node_data& n = operand_at(operand);
        return n.may_be_task && operand < m_first_error && wants_task(m_frame, n);
    }

    bool start(std::vector<started>& running, std::uint32_t operand) noexcept {
        try {
            const node_data& n = operand_at(operand);
            running.push_back({operand, quern::async(attributes_of(n), [this, operand, &n] {
                                   m_frame.counts_of(n).tasks.fetch_add(1,
                                                                        std::memory_order_relaxed);
                                   evaluate_into(operand, n);
                               })});
            return true;
        } catch (const std::exception&) {  // no memory for a task
            return false;
        }
    }

    flow evaluate_into(std::uint32_t operand, const node_data& n) {
        if (m_outs != nullptr) {
            return evaluate(m_frame, n, m_outs[operand]);
        }
        if (n.may_return) {
            return evaluate(m_frame, n, *m_returned);
        }
        value dropped;
        return evaluate(m_frame, n, dropped);
    }

    flow here(std::uint32_t operand) noexcept {
        if (operand > m_first_error) {
            return flow::on;
        }
        try {
            return evaluate_into(operand, operand_at(operand));
        } catch (...) {
            failed(operand);
            return flow::on;
        }
    }

    void wait_for(started& one) noexcept {
        try {
            one.end.get();
        } catch (...) {
            failed(one.operand);
        }
    }

    /// In a handler.
    void failed(std::uint32_t operand) noexcept {
        if (operand < m_first_error) {
            m_first_error = operand;
            m_error = std::current_exception();
        }
    }

    frame& m_frame;
    const node_data& m_node;
    value* m_outs;
    value* m_returned;
    std::uint32_t m_first_error = std::numeric_limits<std::uint32_t>::max();
    std::exception_ptr m_error{};
};

}  // namespace

flow evaluate_waves(frame& f, const node_data& n, value* outs, value* returned) {
    return wave_run(f, n, outs, returned).all();
}

flow evaluate_alone(frame& f, const node_data& n, value& out) {
    const bool is_primitive = n.kind == node_kind::call || n.kind == node_kind::call_tree;
    if (!is_primitive || !wants_task(f, n)) {
        return evaluate(f, n, out);
    }
    return quern::async(attributes_of(n),
                        [&f, &n, &out] {
                            f.counts_of(n).tasks.fetch_add(1, std::memory_order_relaxed);
                            return evaluate(f, n, out);
                        })
        .get();
}

}  // namespace quern::arrays::detail
