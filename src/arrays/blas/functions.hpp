// SPDX-License-Identifier: BSL-1.0
// The functions of BLAS and LAPACK that are used, with Fortran's calling convention, as found in a
// library. Integers are passed by the address of 64-bit ones, which libraries of both widths read
// right where the lowest byte comes first: arguments are not negative but for queries of -1, and
// results (info) are read by their lower half. The lengths of strings follow the other arguments.
#pragma once

#include <quern/arrays/blas.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace quern::arrays::detail {

static_assert(std::endian::native == std::endian::little, "quern: BLAS with big-endian integers");

using blas_int = const std::int64_t*;
using blas_out = std::int64_t*;
using blas_char = const char*;
using blas_length = std::size_t;

/// One row for each function: name without the letter of its type, result, parameters. T is the
/// type of elements.
#define QUERN_BLAS_FUNCTIONS(X)                                                                    \
    X(gemm, void,                                                                                  \
      (blas_char, blas_char, blas_int, blas_int, blas_int, const T*, const T*, blas_int, const T*, \
       blas_int, const T*, T*, blas_int, blas_length, blas_length))                                \
    X(syrk, void,                                                                                  \
      (blas_char, blas_char, blas_int, blas_int, const T*, const T*, blas_int, const T*, T*,       \
       blas_int, blas_length, blas_length))                                                        \
    X(gemv, void,                                                                                  \
      (blas_char, blas_int, blas_int, const T*, const T*, blas_int, const T*, blas_int, const T*,  \
       T*, blas_int, blas_length))                                                                 \
    X(dot, T, (blas_int, const T*, blas_int, const T*, blas_int))                                  \
    X(trsm, void,                                                                                  \
      (blas_char, blas_char, blas_char, blas_char, blas_int, blas_int, const T*, const T*,         \
       blas_int, T*, blas_int, blas_length, blas_length, blas_length, blas_length))

#define QUERN_LAPACK_FUNCTIONS(X)                                                                  \
    X(gesv, void, (blas_int, blas_int, T*, blas_int, blas_out, T*, blas_int, blas_out))            \
    X(getrf, void, (blas_int, blas_int, T*, blas_int, blas_out, blas_out))                         \
    X(potrf, void, (blas_char, blas_int, T*, blas_int, blas_out, blas_length))                     \
    X(geqrf, void, (blas_int, blas_int, T*, blas_int, T*, T*, blas_int, blas_out))                 \
    X(orgqr, void, (blas_int, blas_int, blas_int, T*, blas_int, const T*, T*, blas_int, blas_out)) \
    X(syevd, void,                                                                                 \
      (blas_char, blas_char, blas_int, T*, blas_int, T*, T*, blas_int, blas_out, blas_int,         \
       blas_out, blas_length, blas_length))                                                        \
    X(gesdd, void,                                                                                 \
      (blas_char, blas_int, blas_int, T*, blas_int, T*, T*, blas_int, T*, blas_int, T*, blas_int,  \
       blas_out, blas_out, blas_length))                                                           \
    X(gelsd, void,                                                                                 \
      (blas_int, blas_int, blas_int, T*, blas_int, T*, blas_int, T*, const T*, blas_out, T*,       \
       blas_int, blas_out, blas_out))

/// Null where the library does not have them.
template <class T>
struct blas_functions {
#define QUERN_BLAS_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
    QUERN_BLAS_FUNCTIONS(QUERN_BLAS_MEMBER)
    QUERN_LAPACK_FUNCTIONS(QUERN_BLAS_MEMBER)
#undef QUERN_BLAS_MEMBER
};

/// The number of threads of an OpenBLAS in the process. Never destroyed.
struct blas_threads {
    blas_threads(void (*set_it)(int), int (*get_it)()) noexcept : set(set_it), get(get_it) {}

    void (*const set)(int);
    int (*const get)();
    /// Of tasks, under way. From 0 to 1 and back only under the lock, which guards `before` too.
    std::atomic<int> operations{0};
    int before = 0;  ///< the number when the first one began
};

/// The one that has this function: a library that is opened twice has one number.
blas_threads& threads_of(void (*set)(int), int (*get)());

/// A library. Never destroyed.
struct blas {
    blas_functions<float> of_float;
    blas_functions<double> of_double;
    bool has_blas = false;
    bool has_lapack = false;
    blas_info info;
    blas_threads* threads = nullptr;  ///< null: there are none to tell to rest

    template <class T>
    const blas_functions<T>& of() const noexcept {
        if constexpr (std::is_same_v<T, float>) {
            return of_float;
        } else {
            return of_double;
        }
    }
};

/// The library in use; has_blas is false without one.
const blas& current_blas();

/// The library in use. Throws std::runtime_error, which says what to install, if it has no LAPACK.
/// `what`: the primitive.
const blas& current_lapack(const std::string& what);

/// While one lives, the library's own threads rest: calls run on the calling thread alone, so that
/// tasks on all workers can call at the same time. Afterwards their number is as it was.
class serial_blas {
public:
    explicit serial_blas(const blas& library);
    serial_blas(const serial_blas&) = delete;
    serial_blas& operator=(const serial_blas&) = delete;
    ~serial_blas();

private:
    blas_threads* m_threads;
};

}  // namespace quern::arrays::detail
