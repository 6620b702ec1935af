// SPDX-License-Identifier: BSL-1.0
// A plug-in that contains Quern, compiled by the rules of docs/processes.md. Must not use
// GoogleTest: its host may be a program without Quern.
#include "plugin.hpp"

#include <quern/quern.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

long plugin_run() {
    std::vector<quern::future<long>> parts;
    for (long i = 0; i < 1000; ++i) {
        parts.push_back(quern::async([i] {
            quern::this_task::yield();
            return i;
        }));
    }
    long sum = 0;
    for (auto& part : parts) {
        sum += part.get();
    }
    sum += quern::parallel_reduce(
        0, 1000, 0L, [](int) { return 1L; }, std::plus<>{});
    quern::runtime own(quern::runtime_options::with_workers(2));
    return sum + quern::async(own, [kept = std::make_shared<long>(1)] { return *kept; }).get();
}

long plugin_throw() {
    auto failed = quern::async([]() -> int { throw std::runtime_error("in a task"); });
    try {
        return failed.get();
    } catch (const std::runtime_error& error) {
        return static_cast<long>(std::string(error.what()).size());
    }
}

const void* plugin_pool() { return &quern::runtime::default_instance().default_pool().get(); }

bool plugin_sees_task() { return quern::this_task::is_task(); }
