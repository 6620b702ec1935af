// SPDX-License-Identifier: BSL-1.0
// The library's own threads rest while tasks call it. OpenBLAS lets one call at a time use them, so
// tiles on several workers would run one after the other, and its functions with threads keep more
// than half a megabyte on the stack (dgetrf_parallel), which a task does not have. The first
// operation sets the number to 1, the last one sets it back.
#include "blas/functions.hpp"

#include <list>
#include <mutex>

namespace quern::arrays::detail {

namespace {

constinit std::mutex g_counting;

}  // namespace

blas_threads& threads_of(void (*set)(int), int (*get)()) {
    static auto* const all = new std::list<blas_threads>;
    const std::lock_guard lock(g_counting);
    for (blas_threads& each : *all) {
        if (each.set == set) return each;
    }
    return all->emplace_back(blas_threads{set, get});
}

serial_blas::serial_blas(const blas& library) : m_threads(library.threads) {
    if (m_threads == nullptr) return;
    const std::lock_guard lock(g_counting);
    if (m_threads->operations++ > 0) return;
    m_threads->before = m_threads->get();
    if (m_threads->before > 1) m_threads->set(1);
}

serial_blas::~serial_blas() {
    if (m_threads == nullptr) return;
    const std::lock_guard lock(g_counting);
    if (--m_threads->operations > 0) return;
    // A program that has set a number of its own meanwhile keeps that.
    if (m_threads->before > 1 && m_threads->get() == 1) m_threads->set(m_threads->before);
}

}  // namespace quern::arrays::detail
