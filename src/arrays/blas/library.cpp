// SPDX-License-Identifier: BSL-1.0
// Finds a BLAS and a LAPACK.
#include "blas/functions.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <dlfcn.h>

namespace quern::arrays {

namespace detail {

namespace {

struct spelling {
    std::string_view before;
    std::string_view after;
    int integer_bits;
};

/// SciPy's wheels and NumPy's, reference libraries, Debian's and Julia's with 64-bit integers.
constexpr spelling k_spellings[] = {
    {"scipy_", "_64_", 64}, {"scipy_", "_", 32}, {"", "_", 32}, {"", "_64_", 64}, {"", "64_", 64},
};

constexpr const char* k_libraries[] = {
#if defined(__x86_64__)
    "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
#elif defined(__aarch64__)
    "/usr/lib/aarch64-linux-gnu/openblas-serial/libopenblas.so.0",
#endif
    "libopenblas.so.0",
    "libopenblas64_.so.0",
    "libopenblas.so",
    "libblis.so.4",
    "libblas.so.3",
};
constexpr const char* k_lapack = "liblapack.so.3";

void* symbol(void* handle, const spelling& as, std::string_view name) {
    std::string whole(as.before);
    whole.append(name).append(as.after);
    return ::dlsym(handle, whole.c_str());
}

/// The spelling in which the library has this function.
const spelling* spelling_of(void* handle, std::string_view function) {
    for (const spelling& each : k_spellings) {
        if (symbol(handle, each, function) != nullptr) return &each;
    }
    return nullptr;
}

template <class F>
bool look_up(F*& function, void* handle, const spelling& as, char letter, const char* name) {
    function = reinterpret_cast<F*>(symbol(handle, as, letter + std::string(name)));
    return function != nullptr;
}

template <class T>
bool find_blas(blas_functions<T>& f, void* handle, const spelling& as, char letter) {
    bool all = true;
#define QUERN_BLAS_FIND(name, result, parameters) \
    all = look_up(f.name, handle, as, letter, #name) && all;
    QUERN_BLAS_FUNCTIONS(QUERN_BLAS_FIND)
    return all;
}
template <class T>
bool find_lapack(blas_functions<T>& f, void* handle, const spelling& as, char letter) {
    bool all = true;
    QUERN_LAPACK_FUNCTIONS(QUERN_BLAS_FIND)
#undef QUERN_BLAS_FIND
    return all;
}

bool add_lapack(blas& made, void* handle, const std::string& path) {
    const spelling* const as = spelling_of(handle, "dgetrf");
    if (as == nullptr || as->integer_bits != made.info.integer_bits) return false;
    made.has_lapack = find_lapack(made.of_float, handle, *as, 's') &&
                      find_lapack(made.of_double, handle, *as, 'd');
    if (made.has_lapack) made.info.lapack_path = path;
    return made.has_lapack;
}

/// Whether calls of the library can be kept on the calling thread. OpenBLAS says 1 for threads of
/// its own, 2 for OpenMP's, whose number belongs to each thread that calls: there is no telling
/// them.
bool add_threads(blas& made, void* handle) {
    for (const char* const before : {"scipy_", ""}) {
        for (const char* const after : {"64_", ""}) {
            const auto named = [&](const char* name) {
                return ::dlsym(handle, (std::string(before) + name + after).c_str());
            };
            auto* const parallel = reinterpret_cast<int (*)()>(named("openblas_get_parallel"));
            if (parallel == nullptr) continue;
            if (parallel() == 0) return true;
            made.info.has_own_threads = true;
            auto* const set = reinterpret_cast<void (*)(int)>(named("openblas_set_num_threads"));
            auto* const get = reinterpret_cast<int (*)()>(named("openblas_get_num_threads"));
            if (parallel() != 1 || set == nullptr || get == nullptr) return false;
            made.threads = &threads_of(set, get);
            return true;
        }
    }
    return true;
}

/// What a library has. Without BLAS, or with threads that cannot be told to rest, has_blas is false
/// and `why` says so. `handle` stays open.
std::unique_ptr<blas> library_of(void* handle, const std::string& path, std::string& why) {
    auto made = std::make_unique<blas>();
    const spelling* const as = spelling_of(handle, "dgemm");
    if (as == nullptr || !find_blas(made->of_float, handle, *as, 's') ||
        !find_blas(made->of_double, handle, *as, 'd')) {
        why = " has no BLAS: there is no dgemm_, dgemm_64_ or scipy_dgemm_64_ in it";
        return made;
    }
    if (!add_threads(*made, handle)) {
        why =
            " divides calls among threads of OpenMP, which tasks cannot prevent; accepted: an "
            "OpenBLAS that is serial or has threads of its own";
        return made;
    }
    made->has_blas = true;
    made->info.path = path;
    made->info.integer_bits = as->integer_bits;
    if (!add_lapack(*made, handle, path)) {
        if (void* const lapack = ::dlopen(k_lapack, RTLD_NOW | RTLD_LOCAL)) {
            add_lapack(*made, lapack, k_lapack);
        }
    }
    return made;
}

/// The first of the list; one without LAPACK only if no other is there.
std::unique_ptr<blas> search() {
    std::string why;
    auto best = library_of(RTLD_DEFAULT, "the program", why);
    for (const char* const name : k_libraries) {
        if (best->has_lapack) break;
        void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) continue;
        auto found = library_of(handle, name, why);
        if (found->has_blas && (!best->has_blas || found->has_lapack)) best = std::move(found);
    }
    return best->has_blas ? std::move(best) : std::make_unique<blas>();
}

constinit std::atomic<const blas*> g_current{nullptr};
constinit std::mutex g_choosing;

std::string names_tried() {
    std::string all;
    for (const char* const name : k_libraries) {
        all += (all.empty() ? "" : ", ") + std::string(name);
    }
    return all;
}

}  // namespace

const blas& current_blas() {
    const blas* now = g_current.load(std::memory_order_acquire);
    if (now == nullptr) {
        const std::lock_guard lock(g_choosing);
        now = g_current.load(std::memory_order_acquire);
        if (now == nullptr) {
            now = search().release();
            g_current.store(now, std::memory_order_release);
        }
    }
    return *now;
}

const blas& current_lapack(const std::string& what) {
    const blas& now = current_blas();
    if (now.has_lapack) return now;
    throw std::runtime_error(
        what + " needs LAPACK, which " +
        (now.has_blas ? "neither " + now.info.path + " nor " + k_lapack + " has"
                      : "none of " + names_tried() + " has") +
        ": install libopenblas0-serial, or name a library to quern::arrays::use_blas_library");
}

}  // namespace detail

blas_info blas_library() { return detail::current_blas().info; }

void use_blas_library(const std::string& path) {
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        throw std::invalid_argument("use_blas_library: " +
                                    std::string(why != nullptr ? why : path + " cannot be opened"));
    }
    std::string why;
    auto found = detail::library_of(handle, path, why);
    if (!found->has_blas) {
        ::dlclose(handle);
        throw std::invalid_argument("use_blas_library: " + path + why);
    }
    const std::lock_guard lock(detail::g_choosing);
    // Those before stay: operations may be using them.
    detail::g_current.store(found.release(), std::memory_order_release);
}

}  // namespace quern::arrays
