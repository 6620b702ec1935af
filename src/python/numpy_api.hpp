// SPDX-License-Identifier: BSL-1.0
// NumPy's C interface, for those sources that use it. One of them, which defines
// QUERN_IMPORTS_NUMPY, has its table.
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL quern_numpy_array_api
#define PY_UFUNC_UNIQUE_SYMBOL quern_numpy_ufunc_api
#ifndef QUERN_IMPORTS_NUMPY
#    define NO_IMPORT_ARRAY
#    define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
