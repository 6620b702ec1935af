# SPDX-License-Identifier: BSL-1.0
# Install rules: the library, headers, the CMake package (find_package(quern CONFIG)), the pkg-config file, and what belongs
# to the command quern. A static and a shared Quern of one version may be installed into one prefix; what one of them alone
# needs is in a file of its own. Included once by the top CMakeLists.txt after all layers exist.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/quern")
set(kind static)
if(BUILD_SHARED_LIBS)
    set(kind shared)
endif()

install(TARGETS quern quern_hpx quern_hpx_compat quern_task_functions EXPORT quern-${kind}-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT quern-${kind}-targets NAMESPACE quern:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quern" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING
        PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${quern_generated_include}/quern/version.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quern")
install(DIRECTORY "${quern_hpx_headers}/hpx" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quern/compat/hpx/include")

# What a user of the static library must find too; the shared one names it itself.
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
configure_file("${PROJECT_SOURCE_DIR}/cmake/quern-needs.cmake.in" "${PROJECT_BINARY_DIR}/quern-${kind}-needs.cmake" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/quernConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
    FILES "${PROJECT_BINARY_DIR}/quernConfig.cmake" "${PROJECT_BINARY_DIR}/quernConfigVersion.cmake"
          "${PROJECT_BINARY_DIR}/quern-${kind}-needs.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindHwloc.cmake"
          "${PROJECT_SOURCE_DIR}/cmake/quern_pragmas.cmake"
    DESTINATION "${package_dir}")

# pkg-config. A static Quern alone says in Libs what it needs, so that a program links it without --static too. hwloc is
# named as a library, not as a package: its package asks with --static for what libhwloc.a needs (libudev), and libhwloc.so
# brings that itself. Debian has no libudev.a, and libhwloc-dev does not depend on libudev-dev.
set(needed "")
set(needed_packages "")
if(QUERN_WITH_HWLOC AND Hwloc_LIBRARY MATCHES "\\.a$")
    set(needed_packages hwloc)
elseif(QUERN_WITH_HWLOC)
    cmake_path(GET Hwloc_LIBRARY PARENT_PATH folder)
    if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND needed "-L${folder}")
    endif()
    list(APPEND needed -lhwloc)
endif()
if(QUERN_CONTEXT_SWITCH STREQUAL "boost")
    list(APPEND needed -lboost_context)
endif()
if(QUERN_WITH_LIBBACKTRACE)
    list(APPEND needed -lbacktrace)
endif()
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dl)
list(APPEND needed ${dl})
list(JOIN needed " " needed)
set(QUERN_PC_LIBS "")
set(QUERN_PC_PRIVATE_LIBS "")
set(QUERN_PC_REQUIRES "")
set(QUERN_PC_PRIVATE_REQUIRES "")
if(BUILD_SHARED_LIBS)
    set(QUERN_PC_PRIVATE_LIBS "${needed}")
    set(QUERN_PC_PRIVATE_REQUIRES "${needed_packages}")
else()
    set(QUERN_PC_LIBS "${needed}")
    set(QUERN_PC_REQUIRES "${needed_packages}")
endif()
set(QUERN_PC_LANGUAGE "")
foreach(option IN LISTS quern_language_options)
    string(APPEND QUERN_PC_LANGUAGE " ${option}")
endforeach()
file(RELATIVE_PATH QUERN_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/quern.pc.in" "${PROJECT_BINARY_DIR}/quern.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/quern.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The layer mpi: a package of its own for each MPI library, so that Quern without it needs none.
foreach(library IN ITEMS openmpi mpich)
    set(target quern_mpi_${library})
    if(NOT TARGET ${target})
        continue()
    endif()
    set(targets ${target})
    if(TARGET ${target}_shared)
        list(APPEND targets ${target}_shared)
    endif()
    install(TARGETS ${targets} EXPORT quern-${kind}-mpi_${library}-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
            LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT quern-${kind}-mpi_${library}-targets NAMESPACE quern:: DESTINATION "${package_dir}")
    set(QUERN_PC_MPI ${library})
    get_target_property(QUERN_PC_MPI_PACKAGE ${target} QUERN_PACKAGE)
    get_target_property(QUERN_PC_MPI_OPTIONS ${target} QUERN_LINK_OPTIONS)
    get_target_property(QUERN_PC_MPI_DEFINES ${target} QUERN_DEFINES)
    list(JOIN QUERN_PC_MPI_OPTIONS " " QUERN_PC_MPI_OPTIONS)
    list(JOIN QUERN_PC_MPI_DEFINES " " QUERN_PC_MPI_DEFINES)
    configure_file("${PROJECT_SOURCE_DIR}/quern_mpi.pc.in" "${PROJECT_BINARY_DIR}/quern_mpi_${library}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/quern_mpi_${library}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

# The layer localities: again a package for each MPI library, so that a program of the layer mpi alone needs no cereal.
foreach(library IN ITEMS openmpi mpich)
    set(target quern_localities_${library})
    if(NOT TARGET ${target})
        continue()
    endif()
    install(TARGETS ${target} quern_localities_hpx_${library} quern_hpx_compat_${library}
            EXPORT quern-${kind}-localities_${library}-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT quern-${kind}-localities_${library}-targets NAMESPACE quern:: DESTINATION "${package_dir}")
    set(QUERN_PC_MPI ${library})
    set(QUERN_PC_CEREAL "")
    if(NOT QUERN_CEREAL_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        set(QUERN_PC_CEREAL "-I${QUERN_CEREAL_INCLUDE_DIR}")
    endif()
    configure_file("${PROJECT_SOURCE_DIR}/quern_localities.pc.in" "${PROJECT_BINARY_DIR}/quern_localities_${library}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/quern_localities_${library}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Beside the command: its manual page, the completion of its options, and the commands for gdb.
install(FILES "${PROJECT_SOURCE_DIR}/tools/gdb/quern.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/quern/gdb")
if(TARGET tool_quern)
    configure_file("${PROJECT_SOURCE_DIR}/tools/quern/share/quern.1.in" "${PROJECT_BINARY_DIR}/quern.1" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/quern.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    install(FILES "${PROJECT_SOURCE_DIR}/tools/quern/share/quern.bash"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME quern)
endif()
