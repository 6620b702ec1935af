// SPDX-License-Identifier: BSL-1.0
// Distinguishes the program's code from Quern's and the system's, by names and files.
#include "whose_code.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <iterator>

namespace quern::detail {

namespace {

/// The folder of Quern's own sources, as given to the compiler: "/…/src/" or, with ccache,
/// "../../src/".
constexpr std::string_view own_sources() noexcept {
    constexpr std::string_view k_here = __FILE__;
    constexpr std::string_view k_below = "base/whose_code.cpp";
    constexpr bool k_is_known =
        k_here.ends_with(k_below) && (k_here.starts_with("/") || k_here.starts_with("../"));
    return k_is_known ? k_here.substr(0, k_here.size() - k_below.size()) : "";
}

/// Whether a mangled name is in namespace quern or in the standard library.
bool is_library_name(std::string_view name) noexcept {
    if (!name.starts_with("_Z")) {
        constexpr std::string_view k_prefixes[] = {"MPI_", "PMPI_",              // of the layer mpi
                                                   "GOMP_", "__kmpc_", "omp_"};  // of omp
        return std::any_of(std::begin(k_prefixes), std::end(k_prefixes),
                           [name](std::string_view each) { return name.starts_with(each); });
    }
    name.remove_prefix(std::min(name.find_first_not_of("_ZNKVRO"), name.size()));
    return name.starts_with("5quern") || name.starts_with("St") || name.starts_with("Sa") ||
           name.starts_with("9__gnu_cxx");
}

/// In Quern's own build each layer has a folder with the headers that it may include.
bool is_header_of_layer(std::string_view file) noexcept {
    const std::size_t quern = file.rfind("/quern/");
    const std::string_view layer = file.substr(0, quern);
    const std::size_t slash = layer.rfind('/');
    return quern != std::string_view::npos && slash != std::string_view::npos &&
           layer.substr(0, slash).ends_with("layers");
}

/// The standard library's headers are in "…/include/c++/12/", "…/include/<machine>/c++/12/" and,
/// for zig, "…/libcxx/include/".
bool is_standard_header(std::string_view file) noexcept {
    const std::size_t headers = file.find("/include/");
    return headers != std::string_view::npos &&
           (file.find("/c++/", headers) != std::string_view::npos ||
            file.substr(0, headers).ends_with("/libcxx"));
}

/// Template instances for types without linkage, such as lambdas, have names without a namespace,
/// so the file decides.
bool is_library_file(std::string_view file) noexcept {
    constexpr std::string_view k_headers = "include/quern/";
    return file.starts_with(k_headers) || is_header_of_layer(file) || is_standard_header(file) ||
           file.find("/include/quern/") != std::string_view::npos ||
           (!own_sources().empty() && file.find(own_sources()) != std::string_view::npos);
}

}  // namespace

bool is_in_system_library(const void* address) noexcept {
    constexpr std::string_view k_all[] = {"libc.so",   "libc-",    "libpthread", "ld-linux",
                                          "libstdc++", "libgcc_s", "libc++",     "libunwind",
                                          "libasan",   "libtsan",  "libubsan"};
    Dl_info about{};
    if (::dladdr(address, &about) == 0 || about.dli_fname == nullptr) {
        return false;
    }
    std::string_view file = about.dli_fname;
    file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
    return std::any_of(std::begin(k_all), std::end(k_all),
                       [file](std::string_view each) { return file.starts_with(each); });
}

bool is_beginning(std::string_view function) noexcept {
    constexpr std::string_view k_all[] = {"_start",
                                          "__libc_start_main",
                                          "__libc_start_main_impl",
                                          "__libc_start_call_main",
                                          "start_thread",
                                          "clone",
                                          "clone3",
                                          "__clone3",
                                          "quern_stack_trampoline"};
    return std::find(std::begin(k_all), std::end(k_all), function) != std::end(k_all);
}

bool is_library(const code_place& place) noexcept {
    return (place.function != nullptr && is_library_name(place.function)) ||
           (place.file != nullptr && is_library_file(place.file));
}

}  // namespace quern::detail
