// SPDX-License-Identifier: BSL-1.0
// A function of a translated source with its arguments, as a task keeps them.
#pragma once

#include <quern/omp/task_functions.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace quern::task_functions {

/// Owns a copy of the arguments. May be called several times. Aligned for any type that new of
/// bytes is.
class packed_call {
public:
    explicit packed_call(const quern_task& of)
        : m_run(of.run), m_move(of.move), m_destroy(of.destroy), m_size(of.size) {
        take(of.arguments);
    }
    packed_call(packed_call&& other)
        : m_run(other.m_run),
          m_move(other.m_move),
          m_destroy(other.m_destroy),
          m_size(other.m_size),
          m_large(std::move(other.m_large)) {
        if (m_large == nullptr) {
            take(other.m_small.data());
        }
        other.m_is_moved = m_large != nullptr;
    }
    packed_call(const packed_call&) = delete;
    packed_call& operator=(packed_call&&) = delete;
    ~packed_call() {
        if (m_destroy != nullptr && !m_is_moved) {
            m_destroy(arguments());
        }
    }

    void operator()() { m_run(arguments()); }
    /// With one of the arguments, a pointer, replaced.
    void call_with(std::size_t offset, void* pointer) {
        std::memcpy(arguments() + offset, &pointer, sizeof(pointer));
        m_run(arguments());
    }

private:
    std::byte* arguments() noexcept { return m_large != nullptr ? m_large.get() : m_small.data(); }
    void take(void* from) {
        if (m_size > m_small.size()) {
            m_large = std::make_unique<std::byte[]>(m_size);
        }
        if (m_move != nullptr) {
            m_move(arguments(), from);
        } else if (m_size != 0) {
            std::memcpy(arguments(), from, m_size);
        }
    }

    void (*m_run)(void*);
    void (*m_move)(void*, void*);
    void (*m_destroy)(void*);
    std::size_t m_size;
    std::unique_ptr<std::byte[]> m_large;
    alignas(std::max_align_t) std::array<std::byte, 80> m_small;
    bool m_is_moved = false;
};

}  // namespace quern::task_functions
