// SPDX-License-Identifier: BSL-1.0
// Repetitions on StarPU: the main thread makes tasks and then waits; it is not one of the workers,
// which is how StarPU works. Its settings here: processors alone, no output, no calibration.
#pragma once

#include "harness.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <starpu.h>

namespace bench {

class starpu_runtime {
public:
    explicit starpu_runtime(int workers) {
        setenv("STARPU_SILENT", "1", 1);
        setenv("STARPU_BUS_CALIBRATE", "0", 1);
        setenv("STARPU_CALIBRATE", "0", 1);
        setenv("STARPU_WORKERS_NOBIND", "1", 1);  // as all others
        starpu_conf conf;
        starpu_conf_init(&conf);
        conf.ncpus = workers;
        conf.ncuda = 0;
        conf.nopencl = 0;
        conf.nmic = 0;
        conf.nmpi_ms = 0;
        check(starpu_init(&conf), "starpu_init");
    }
    ~starpu_runtime() { starpu_shutdown(); }
    starpu_runtime(const starpu_runtime&) = delete;
    starpu_runtime& operator=(const starpu_runtime&) = delete;

    static void check(int result, const char* function) {
        if (result != 0) {
            throw std::runtime_error(std::string(function) + " returned " + std::to_string(result));
        }
    }
};

/// Objects whose accesses StarPU orders, as long as this lives.
class starpu_handles {
public:
    template <class Objects>
    explicit starpu_handles(Objects& objects)
        : m_count(std::size(objects)),
          m_handles(std::make_unique<starpu_data_handle_t[]>(m_count)) {
        std::size_t i = 0;
        for (auto& each : objects) {
            starpu_variable_data_register(&m_handles[i++], STARPU_MAIN_RAM,
                                          reinterpret_cast<std::uintptr_t>(&each), sizeof each);
        }
    }
    ~starpu_handles() {
        for (std::size_t i = 0; i < m_count; ++i) {
            starpu_data_unregister(m_handles[i]);
        }
    }
    starpu_handles(const starpu_handles&) = delete;
    starpu_handles& operator=(const starpu_handles&) = delete;

    starpu_data_handle_t operator[](std::size_t i) const { return m_handles[i]; }

private:
    std::size_t m_count;
    std::unique_ptr<starpu_data_handle_t[]> m_handles;
};

/// A job whose repetitions are f(), called on the main thread.
template <class F>
job starpu_job(const arguments& a, F f) {
    return [rt = std::make_shared<starpu_runtime>(a.workers), f = std::move(f)] { return f(); };
}

}  // namespace bench
