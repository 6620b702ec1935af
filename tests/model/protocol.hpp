// SPDX-License-Identifier: BSL-1.0
// Shared by the models of the runtime's own protocols: the atomics with which the production
// templates are instantiated, the memory models they are explored under, and a line of output with
// the number of interleavings, which the documentation quotes.
#pragma once

#include "expectations.hpp"

#include <cstdint>
#include <cstdio>

namespace model {

struct protocol_atomics : atomics {
    template <class T>
    using plain = var<T>;

    static void back_off(int&) noexcept { pause(); }
};

/// With an asymmetric fence. A model sets `between` to a word of its own before it makes an object
/// that passes one.
struct fenced_atomics : protocol_atomics {
    static inline atomic<std::uint32_t>* between = nullptr;

    static void light_barrier() noexcept { atomics::light_barrier(*between); }
    static bool heavy_barrier() noexcept {
        atomics::heavy_barrier(*between);
        return true;
    }
};

/// Broken on purpose: the heavy half is only the light one.
struct unfenced_atomics : fenced_atomics {
    static bool heavy_barrier() noexcept {
        light_barrier();
        return true;
    }
};

inline constexpr memory k_all_memories[] = {memory::sequential, memory::tso, memory::pso};

inline const char* name_of(memory m) {
    constexpr const char* names[] = {"sequential", "tso", "pso"};
    return names[static_cast<int>(m)];
}

/// Explores under one memory model; it must pass and be exhaustive.
template <class Setup>
void expect_passes(const char* what, options o, memory m, const Setup& setup) {
    o.stores = m;
    const result r = explore(o, setup);
    EXPECT_TRUE(r.ok() && r.exhaustive) << what << " under " << name_of(m) << '\n' << r.report();
    std::printf("[ explored ] %s, %s: %llu interleavings, %llu steps\n", what, name_of(m),
                static_cast<unsigned long long>(r.executions),
                static_cast<unsigned long long>(r.steps));
}

/// The same under each memory model.
template <class Setup>
void expect_passes_everywhere(const char* what, const options& o, const Setup& setup) {
    for (const memory m : k_all_memories) {
        expect_passes(what, o, m, setup);
    }
}

/// A broken variant must fail under at least one memory model.
template <class Setup>
void expect_found_broken(const char* what, options o, const Setup& setup) {
    for (const memory m : k_all_memories) {
        o.stores = m;
        if (!explore(o, setup).ok()) {
            return;
        }
    }
    ADD_FAILURE() << what << " is broken but no interleaving showed it";
}

}  // namespace model
