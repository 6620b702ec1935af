// SPDX-License-Identifier: BSL-1.0
// The source of series of this process. Constructors of static objects set it, before or after this
// file's own are built, so it needs no constructor.
#include <quern/scheduler/detail/series_source.hpp>

#include <atomic>

namespace quern::detail {

namespace {

constinit std::atomic<series_source> g_source{nullptr};

}  // namespace

void set_series_source(series_source from) noexcept {
    g_source.store(from, std::memory_order_release);  // pairs with the load below
}

series_source find_series_source() noexcept { return g_source.load(std::memory_order_acquire); }

}  // namespace quern::detail
