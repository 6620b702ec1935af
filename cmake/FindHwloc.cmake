# SPDX-License-Identifier: BSL-1.0
# Finds hwloc through pkg-config or the usual folders and defines hwloc::hwloc. Used by this build and, because a static
# Quern needs hwloc at its user's link, by the installed quernConfig.cmake beside which it is installed.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(PC_HWLOC QUIET hwloc)
endif()
find_path(Hwloc_INCLUDE_DIR hwloc.h HINTS ${PC_HWLOC_INCLUDE_DIRS})
find_library(Hwloc_LIBRARY hwloc HINTS ${PC_HWLOC_LIBRARY_DIRS})
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    Hwloc
    REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR
    VERSION_VAR PC_HWLOC_VERSION
    REASON_FAILURE_MESSAGE "install libhwloc-dev or configure with -DQUERN_WITH_HWLOC=OFF")
if(Hwloc_FOUND AND NOT TARGET hwloc::hwloc)
    add_library(hwloc::hwloc UNKNOWN IMPORTED)
    set_target_properties(
        hwloc::hwloc PROPERTIES IMPORTED_LOCATION "${Hwloc_LIBRARY}"
                                INTERFACE_INCLUDE_DIRECTORIES "${Hwloc_INCLUDE_DIR}")
endif()
