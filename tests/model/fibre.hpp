// SPDX-License-Identifier: BSL-1.0
// The explorer's own stacks: a model thread is a fibre that the engine may leave for ever in the
// middle of a function and start again from the top. Called by the engine only. Independent of the
// runtime's context layer on purpose, so that a fault there cannot make a model test lie. No
// exception may leave a fibre's entry, and entry never returns.
#pragma once

#include <cstddef>
#include <memory>

namespace model::detail {

class fibre {
public:
    using entry = void (*)(void* argument);

    fibre();  // the calling OS thread's own stack, which needs no memory
    explicit fibre(std::size_t stack_bytes);
    ~fibre();
    fibre(const fibre&) = delete;
    fibre& operator=(const fibre&) = delete;

    // Forgets what ran on this stack (nothing there is destroyed); the next switch to it calls
    // entry(argument).
    void restart(entry function, void* argument);

    // Leaves `*this`, which must be the running fibre, for `next`.
    void switch_to(fibre& next);

    struct implementation;

private:
    std::unique_ptr<implementation> m_implementation;
};

}  // namespace model::detail
