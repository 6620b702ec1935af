// SPDX-License-Identifier: BSL-1.0
// Connects the parts: fibres that run the model's threads, the tree that decides, the machine that
// executes. Made by explore() for one exploration; the free functions in program.cpp reach it
// through `active`. A fibre must never be resumed once its execution has ended.
#pragma once

#include "explorer.hpp"
#include "fibre.hpp"
#include "machine.hpp"
#include "search_tree.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace model::detail {

class engine final : public host {
public:
    engine(const options& o, const std::function<void(run&)>& setup);
    ~engine() = default;

    result explore();

    // For the free functions: the running thread, and its request.
    [[nodiscard]] std::size_t thread() const noexcept { return m_thread; }
    [[nodiscard]] bool in_program() const noexcept { return m_thread != k_nobody; }
    machine& memory_and_threads() noexcept { return m_machine; }
    reply perform(const request& r);
    unsigned choose_one_of(unsigned n) override;
    [[noreturn]] void fail(failure kind, const std::string& message) override;

    static thread_local engine* active;

private:
    static constexpr std::size_t k_nobody = search_tree::k_nobody;
    enum class ending : std::uint8_t { none, complete, redundant, failed };

    struct fibre_of_thread {
        engine* owner = nullptr;
        std::size_t thread = 0;
        std::unique_ptr<fibre> stack;
        const std::function<void()>* body = nullptr;
    };

    ending execute_once(bool logging);
    void destroy_state();
    void run_alone(const std::function<void()>& body);
    void prepare(std::size_t thread, const std::function<void()>& body);
    void enter(std::size_t thread);
    void give_way();
    [[nodiscard]] std::size_t next_actor();
    void record_step(std::size_t actor);
    void end_with(failure kind, const std::string& message);
    static void fibre_main(void* argument);
    fibre& stack_of(std::size_t thread) {
        return thread == k_nobody ? m_controller : *m_fibres[thread].stack;
    }
    [[nodiscard]] bool out_of_bounds(const result& r,
                                     std::chrono::steady_clock::time_point start) const;
    void describe_failure(result& r);

    options m_options;
    const std::function<void(run&)>& m_setup;
    machine m_machine;
    search_tree m_tree;
    run m_run;
    fibre m_controller;
    fibre_of_thread m_fibres[k_max_threads + 1];
    std::size_t m_thread = k_nobody;
    bool m_concurrent = false;  // threads have begun; before, each runs up to its first operation
    ending m_ending = ending::none;
    failure m_failure = failure::none;
    std::string m_message;
    std::uint64_t m_steps = 0;
    std::vector<std::uint32_t> m_predecessors;
    access m_pending[k_max_actors];
};

}  // namespace model::detail
