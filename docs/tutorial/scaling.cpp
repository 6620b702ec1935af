// SPDX-License-Identifier: BSL-1.0
// Step 8 of the tutorial: a histogram that does not scale, and its mended form.
#include <quern/quern.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string_view>

using histogram = std::array<long, 64>;

constexpr int k_tasks = 400;
constexpr int k_samples = 200'000;  // of each task

// A random number whose leading zeros are counted.
std::size_t bucket_of(std::uint64_t seed) {
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
    seed = (seed ^ (seed >> 31)) | 1;
    return static_cast<std::size_t>(__builtin_clzll(seed));
}

void add_samples(histogram& to, int task) {
    for (int i = 0; i < k_samples; ++i) {
        ++to[bucket_of(static_cast<std::uint64_t>(task) * k_samples + i)];
    }
}

// Every task holds the lock for as long as it computes.
histogram before() {
    histogram all{};
    quern::mutex guard;
    quern::task_group group;
    for (int task = 0; task < k_tasks; ++task) {
        group.run({.name = "before"}, [&all, &guard, task] {
            const std::scoped_lock lock(guard);
            add_samples(all, task);
        });
    }
    group.wait();
    return all;
}

// Every task computes alone, and holds the lock for 64 additions.
histogram after() {
    histogram all{};
    quern::mutex guard;
    quern::task_group group;
    for (int task = 0; task < k_tasks; ++task) {
        group.run({.name = "after"}, [&all, &guard, task] {
            histogram own{};
            add_samples(own, task);
            const std::scoped_lock lock(guard);
            for (std::size_t i = 0; i < all.size(); ++i) {
                all[i] += own[i];
            }
        });
    }
    group.wait();
    return all;
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [](int count, char** words) {
        const bool is_mended = count == 2 && std::string_view(words[1]) == "after";
        const histogram all = is_mended ? after() : before();
        std::printf("%ld samples, half of them in bucket 0: %ld\n", long{k_tasks} * k_samples,
                    all[0]);
    });
}
