// SPDX-License-Identifier: BSL-1.0
// Counters of a program's own: a single one, and several that are read together.
#include <quern/quern.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

using quern::counters::counter_info;
using quern::counters::counter_kind;
using quern::counters::raw_reading;

// A cache whose hits and misses are counted.
struct cache {
    std::atomic<long> hits = 0;
    std::atomic<long> misses = 0;

    void look_up(int key) { ++(key % 4 == 0 ? misses : hits); }
};

// Three counters of one moment. Raw readings are running sums; readers subtract their baselines.
class cache_source final : public quern::counters::source {
public:
    explicit cache_source(const cache& of) : m_cache(of) {}

    const std::vector<counter_info>& counters() const override { return m_counters; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const quern::counters::place&) override {
        const auto hits = static_cast<double>(m_cache.hits);
        const auto misses = static_cast<double>(m_cache.misses);
        return {{.above = hits}, {.above = misses}, {.above = hits, .below = hits + misses}};
    }

private:
    const cache& m_cache;
    const std::vector<counter_info> m_counters = {
        {"/cache/hits", counter_kind::sum, "", "look-ups that were answered by the cache"},
        {"/cache/misses", counter_kind::sum, "", "look-ups that went to the disk"},
        {"/cache/hit-rate", counter_kind::ratio, "0.01 %", "part of the look-ups that hit", 10000},
    };
};

// Static objects are there before the runtime, so that --quern:print-counter finds the counters.
cache pages;
std::atomic<int> open_files = 0;
const auto sums = quern::counters::install(std::make_unique<cache_source>(pages));
const auto level =
    quern::counters::install("/app/open-files", [] { return double(open_files); },
                             {.kind = counter_kind::level, .help = "files that are open now"});

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        open_files = 3;
        for (int key = 0; key < 100; ++key) {
            pages.look_up(4 * key);  // none hits
        }

        quern::counters::counter_set set;  // counts from now on
        set.add("/cache/*");
        set.add("/app/open-files");
        quern::parallel_for(0, 1000, [](int key) { pages.look_up(key); });
        for (const auto& v : set.evaluate().values) {
            std::printf("%-38s %6.0f %s\n", v.name.c_str(), v.value, v.unit.c_str());
        }
    });
}
