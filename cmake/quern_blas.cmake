# SPDX-License-Identifier: BSL-1.0
# BLAS and LAPACK for the dense linear algebra of apps/, bench/ and a stress test: OpenBLAS's build for POSIX threads, which
# apps/common/blas.hpp sets to one thread. Called by these folders; the library must never need it.
#
# Debian's other builds will not do. The serial one finds a free buffer without a lock (OpenBLAS issue 2126): several threads
# get wrong results, which tests/stress/blas_test.cpp shows when it is linked with that build. In the OpenMP build another
# OpenMP program's settings count. Where several are installed, /usr/lib/<arch>/libopenblas.so is what update-alternatives
# chose, so the folder of the right one is searched first.

# quern_find_blas(): defines the target quern_blas, or says why there is none.
function(quern_find_blas)
    if(TARGET quern_blas)
        return()
    endif()
    find_library(QUERN_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-pthread DOC "OpenBLAS, built with POSIX threads")
    if(NOT QUERN_OPENBLAS)
        set(missing "OpenBLAS was not found (Debian: libopenblas-pthread-dev)")
    else()
        file(REAL_PATH "${QUERN_OPENBLAS}" real)
        if(real MATCHES "libopenblaso?-r[^/]*$")
            set(missing "${QUERN_OPENBLAS} is not OpenBLAS's build for POSIX threads (Debian: libopenblas-pthread-dev)")
        endif()
    endif()
    if(DEFINED missing)
        get_property(is_told GLOBAL PROPERTY QUERN_BLAS_IS_TOLD)
        if(NOT is_told)
            message(STATUS "no dense linear algebra (cholesky, lu, qr, gemm): ${missing}")
            set_property(GLOBAL PROPERTY QUERN_BLAS_IS_TOLD TRUE)
        endif()
        return()
    endif()
    add_library(quern_blas INTERFACE IMPORTED GLOBAL)
    target_link_libraries(quern_blas INTERFACE "${QUERN_OPENBLAS}")
endfunction()
