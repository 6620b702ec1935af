// SPDX-License-Identifier: BSL-1.0
// The functions that a model program calls, for the running thread: the implementation of core.hpp
// and of the free functions of explorer.hpp. Each finds the engine of the active exploration; none
// keeps state of its own.
#include "engine.hpp"

#include <cstdio>
#include <cstdlib>

namespace model {
namespace detail {
namespace {

engine& current() {
    if (engine::active != nullptr && engine::active->in_program()) return *engine::active;
    std::fputs("model: an atomic or var was used outside the threads of an exploration\n", stderr);
    std::abort();
}

// Objects that outlive their exploration may still be destroyed.
engine* current_if_any() {
    return engine::active != nullptr && engine::active->in_program() ? engine::active : nullptr;
}

}  // namespace

reply perform(const request& r) noexcept { return current().perform(r); }
void pause() noexcept { current().memory_and_threads().pause(current().thread()); }

object_id create_atomic(std::uint64_t initial, unsigned bytes) noexcept {
    return current().memory_and_threads().create_atomic(current().thread(), initial, bytes);
}
void destroy_atomic(object_id id) noexcept {
    if (engine* const e = current_if_any()) e->memory_and_threads().destroy_atomic(e->thread(), id);
}
void name_atomic(object_id id, const char* text) noexcept {
    current().memory_and_threads().name_atomic(id, text);
}

object_id create_var() noexcept {
    return current().memory_and_threads().create_var(current().thread());
}
void destroy_var(object_id id) noexcept {
    if (engine* const e = current_if_any()) e->memory_and_threads().destroy_var(e->thread(), id);
}
void read_var(object_id id) noexcept {
    current().memory_and_threads().read_var(current().thread(), id);
}
void write_var(object_id id) noexcept {
    current().memory_and_threads().write_var(current().thread(), id);
}
void name_var(object_id id, const char* text) noexcept {
    current().memory_and_threads().name_var(id, text);
}

}  // namespace detail

void run::clear() {
    m_threads.clear();
    m_end_checks.clear();
    while (!m_state.empty())
        m_state.pop_back();
}

result explore(const options& o, const std::function<void(run&)>& setup) {
    if (detail::engine::active != nullptr) {
        std::fputs("model: explore called inside an exploration\n", stderr);
        std::abort();
    }
    const auto e = std::make_unique<detail::engine>(o, setup);
    detail::engine::active = e.get();
    result r = e->explore();
    detail::engine::active = nullptr;
    return r;
}

void check(bool condition, const char* text) {
    if (!condition) detail::current().fail(failure::check, text);
}

unsigned choose(unsigned n) { return detail::current().choose_one_of(n); }

void note(const char* text) {
    detail::engine& e = detail::current();
    e.memory_and_threads().log(e.thread(), text);
}

void name_value(const void* address, const char* text) {
    detail::current().memory_and_threads().name_value(reinterpret_cast<std::uintptr_t>(address),
                                                      text);
}

unsigned this_thread() { return static_cast<unsigned>(detail::current().thread()); }

}  // namespace model
