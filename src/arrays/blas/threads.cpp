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
    return all->emplace_back(set, get);
}

serial_blas::serial_blas(const blas& library) : m_threads(library.threads) {
    if (m_threads == nullptr) return;
    std::atomic<int>& operations = m_threads->operations;
    int now = operations.load(std::memory_order_relaxed);
    while (now > 0) {  // they rest already
        // acquire: pairs with the release of the first operation, which has called set(1)
        if (operations.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
            return;
        }
    }
    const std::lock_guard lock(g_counting);
    if (operations.load(std::memory_order_relaxed) == 0) {
        m_threads->before = m_threads->get();
        if (m_threads->before > 1) m_threads->set(1);
    }
    operations.fetch_add(1, std::memory_order_release);  // pairs with the acquire above
}

serial_blas::~serial_blas() {
    if (m_threads == nullptr) return;
    std::atomic<int>& operations = m_threads->operations;
    int now = operations.load(std::memory_order_relaxed);
    while (now > 1) {  // another one is under way
        // release: pairs with the acquire of the last one, which calls set()
        if (operations.compare_exchange_weak(now, now - 1, std::memory_order_release,
                                             std::memory_order_relaxed)) {
            return;
        }
    }
    const std::lock_guard lock(g_counting);
    // acquire: pairs with the releases of the operations that ended before
    if (operations.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    // A program that has set a number of its own meanwhile keeps that.
    if (m_threads->before > 1 && m_threads->get() == 1) m_threads->set(m_threads->before);
}

}  // namespace quern::arrays::detail
