// SPDX-License-Identifier: BSL-1.0
// What scans, copies of some elements, removals and set operations allocate does not depend on the
// length of the range or on how long a single call takes. The program's operator new counts.
#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/partition.hpp>
#include <quern/algorithms/remove.hpp>
#include <quern/algorithms/scan.hpp>
#include <quern/algorithms/set_operations.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

namespace {

std::atomic<std::size_t> allocations{0};      // NOLINT: operator new has no other place
std::atomic<std::size_t> allocated_bytes{0};  // NOLINT

}  // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    allocated_bytes += bytes;
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using numbers = std::vector<int>;

/// Of one call on so many workers.
struct use_of_memory {
    std::size_t allocations;
    std::size_t bytes;
};

template <class Call>
use_of_memory measure(Call call) {
    const std::size_t count = allocations;
    const std::size_t bytes = allocated_bytes;
    call();
    return {allocations - count, allocated_bytes - bytes};
}

/// A function of the program that is slow once: the first time in a call.
class cold {
public:
    void begin() { m_is_first = true; }
    void call() {
        if (m_is_first.load(std::memory_order_relaxed) && m_is_first.exchange(false)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

private:
    std::atomic<bool> m_is_first{false};
};

class ordered_memory : public testing::TestWithParam<unsigned> {
protected:
    /// Calls it a few times; the largest use must be below a constant for each worker.
    template <class Call>
    void expect_little(const char* what, Call call) {
        for (int i = 0; i < 3; ++i) {
            m_cold.begin();
            const use_of_memory used = measure(call);
            EXPECT_LT(used.allocations, 10 + 10 * GetParam()) << what;
            EXPECT_LT(used.bytes, k_bytes_per_worker * GetParam()) << what;
        }
    }

    static constexpr std::size_t k_bytes_per_worker = 200'000;
    cold m_cold{};
};

TEST_P(ordered_memory, is_a_constant_per_worker) {
    const quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    quern::async(rt, [&] {
        const std::size_t n = quern::detail::k_tsan ? 300'000 : 2'000'000;
        numbers x(n), y(n), out(2 * n), out2(n);
        std::iota(x.begin(), x.end(), 0);
        std::iota(y.begin(), y.end(), static_cast<int>(n / 2));
        const auto is_kept = [this](int e) {
            m_cold.call();
            return e % 3 == 0;
        };
        expect_little("copy_if", [&] { quern::copy_if(quern::par, x, out.begin(), is_kept); });
        expect_little("partition_copy", [&] {
            quern::partition_copy(quern::par, x.begin(), x.end(), out.begin(), out2.begin(),
                                  is_kept);
        });
        expect_little("inclusive_scan", [&] {
            quern::inclusive_scan(quern::par, x.begin(), x.end(), out.begin(),
                                  [this](int a, int b) {
                                      m_cold.call();
                                      return a > b ? a : b;
                                  });
        });
        expect_little("set_union", [&] {
            quern::set_union(quern::par, x.begin(), x.end(), y.begin(), y.end(), out.begin(),
                             [this](int a, int b) {
                                 m_cold.call();
                                 return a < b;
                             });
        });
        expect_little("remove_if",
                      [&] { quern::remove_if(quern::par, out2.begin(), out2.end(), is_kept); });
        expect_little("unique", [&] {
            quern::unique(quern::par, out2.begin(), out2.end(), [this](int a, int b) {
                m_cold.call();
                return a == b;
            });
        });
    }).get();
}

INSTANTIATE_TEST_SUITE_P(on_workers, ordered_memory, testing::Values(1U, 2U, 8U));

}  // namespace
