// SPDX-License-Identifier: BSL-1.0
// The computing kernels of C-CUBE, each in k_steps steps: one that uses the processor alone, one
// that uses memory, and one that uses both. Source: the thesis on OmpSs, 4.3.1 and 4.4.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ccube {

inline constexpr std::size_t k_steps = 128;

class kernel {
public:
    kernel() = default;
    kernel(const kernel&) = delete;
    kernel& operator=(const kernel&) = delete;
    virtual ~kernel() = default;

    virtual std::string_view name() const = 0;
    virtual void reset() = 0;
    /// Steps from 0 to k_steps - 1, each once.
    virtual void step(std::size_t which) = 0;
    /// Empty, or what is wrong after all steps.
    virtual std::string mistake() const = 0;
};

struct sizes {
    std::uint64_t number = 1'000'000'000'039;  ///< whose divisors a step looks for; it is prime
    std::size_t copied = 16'000'000;           ///< bytes that a step copies
    std::size_t n = 4096;                      ///< rows of A and C, columns of B and C
};

/// Whether a number is prime, by trial division; compute bound.
std::unique_ptr<kernel> make_primes(const sizes& of);
/// memcpy; memory bound.
std::unique_ptr<kernel> make_copies(const sizes& of);
/// C = A B, A having 128 columns: a step computes 1/128 of the columns of C.
std::unique_ptr<kernel> make_product(const sizes& of);

}  // namespace ccube
