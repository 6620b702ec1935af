# SPDX-License-Identifier: BSL-1.0
# Install rules: libraries, headers, the CMake package (find_package(quern CONFIG)), the pkg-config file, and what belongs to
# the command quern. Included once by the top CMakeLists.txt after all layers exist.
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY QUERN_LAYER_TARGETS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/quern")

install(TARGETS ${layers} quern EXPORT quern-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                                                     LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT quern-targets NAMESPACE quern:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quern" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING
        PATTERN "*.hpp")
install(FILES "${quern_generated_include}/quern/version.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quern")

# What a user of the static libraries must find too; the shared ones carry it themselves.
set(QUERN_NEEDS_HWLOC OFF)
set(QUERN_NEEDS_BOOST OFF)
if(NOT BUILD_SHARED_LIBS)
    set(QUERN_NEEDS_HWLOC ${QUERN_WITH_HWLOC})
    if(QUERN_CONTEXT_SWITCH STREQUAL "boost")
        set(QUERN_NEEDS_BOOST ON)
    endif()
endif()
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/quernConfig.cmake.in" "${PROJECT_BINARY_DIR}/quernConfig.cmake"
    INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/quernConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/quernConfig.cmake" "${PROJECT_BINARY_DIR}/quernConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindHwloc.cmake" DESTINATION "${package_dir}")

# pkg-config: the libraries from the top layer down, as a static link needs them.
set(link_flags "")
set(requires "")
foreach(layer IN LISTS layers)
    get_target_property(type ${layer} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
        list(PREPEND link_flags "-l${layer}")
    endif()
endforeach()
list(APPEND link_flags -pthread)
if(QUERN_NEEDS_HWLOC)
    set(requires hwloc)
endif()
if(QUERN_NEEDS_BOOST)
    list(APPEND link_flags -lboost_context)
endif()
if(QUERN_WITH_LIBBACKTRACE AND NOT BUILD_SHARED_LIBS)
    list(APPEND link_flags -lbacktrace)
endif()
list(JOIN link_flags " " QUERN_PC_LIBS)
set(QUERN_PC_REQUIRES "${requires}")
file(RELATIVE_PATH QUERN_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/quern.pc.in" "${PROJECT_BINARY_DIR}/quern.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/quern.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Beside the command: its manual page, the completion of its options, and the commands for gdb.
install(FILES "${PROJECT_SOURCE_DIR}/tools/gdb/quern.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/quern/gdb")
if(TARGET tool_quern)
    configure_file("${PROJECT_SOURCE_DIR}/tools/quern/share/quern.1.in" "${PROJECT_BINARY_DIR}/quern.1" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/quern.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    install(FILES "${PROJECT_SOURCE_DIR}/tools/quern/share/quern.bash"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME quern)
endif()
