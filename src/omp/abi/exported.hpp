// SPDX-License-Identifier: BSL-1.0
// How an entry point of an OpenMP library is declared. Its name must also stand in quern_omp.map.
#pragma once

#define QUERN_OMP_ENTRY extern "C" __attribute__((visibility("default")))
