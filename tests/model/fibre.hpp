// SPDX-License-Identifier: BSL-1.0
// The explorer's own stacks: a model thread is a fibre that the engine may abandon in the middle of
// a function and start again from the top. Called only by the engine. Deliberately independent of
// the runtime's context layer, so that a fault there cannot falsify a model test. No exception may
// leave a fibre's entry, and entry never returns.
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

    // Discards the frames on this stack (without destructors); the next switch to it calls
    // entry(argument).
    void restart(entry function, void* argument);

    // Switches from `*this`, which must be the running fibre, to `next`.
    void switch_to(fibre& next);

    struct implementation;

private:
    std::unique_ptr<implementation> m_implementation;
};

}  // namespace model::detail
