// SPDX-License-Identifier: BSL-1.0
// Loads the plug-in of these tests for the lifetime of an object.
#pragma once

#include "plugin.hpp"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace quern_test {

class loaded {
public:
    explicit loaded(int flags = RTLD_NOW | RTLD_LOCAL) : m_handle(::dlopen(k_path, flags)) {
        if (m_handle == nullptr) {
            throw std::runtime_error(::dlerror());
        }
    }
    loaded(const loaded&) = delete;
    loaded& operator=(const loaded&) = delete;
    ~loaded() { ::dlclose(m_handle); }

    template <class Function>
    Function* find(const char* name) const {
        void* const found = ::dlsym(m_handle, name);
        if (found == nullptr) {
            throw std::runtime_error(::dlerror());
        }
        return reinterpret_cast<Function*>(found);
    }

    /// Whether the dynamic linker still keeps the plug-in's code.
    static bool in_memory() {
        void* const again = ::dlopen(k_path, RTLD_NOW | RTLD_NOLOAD);
        if (again != nullptr) {
            ::dlclose(again);
        }
        return again != nullptr;
    }

private:
    static constexpr const char* k_path = QUERN_TEST_PLUGIN;
    void* m_handle;
};

/// The result of plugin_run().
inline constexpr long k_plugin_sum = 999L * 1000 / 2 + 1000 + 1;

}  // namespace quern_test
