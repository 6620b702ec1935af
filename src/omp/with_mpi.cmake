# SPDX-License-Identifier: BSL-1.0
# libquern_omp_<library>.so for each MPI library: the layers omp and mpi in one, for programs of both that know nothing of
# Quern. One runtime serves both, so that a blocking call in a task of OpenMP leaves the task. It exports what each of the two
# exports. Read by src/omp/CMakeLists.txt.
file(READ "${CMAKE_CURRENT_SOURCE_DIR}/quern_omp.map" quern_omp_map)
set(quern_omp_map "${quern_omp_map}QUERN_MPI_1.0 {\n    global:\n        MPI_*;\n};\n")
set(both_exports "${CMAKE_CURRENT_BINARY_DIR}/quern_omp_mpi.map")
file(CONFIGURE OUTPUT "${both_exports}" CONTENT "${quern_omp_map}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/quern_omp.map")
foreach(library IN ITEMS openmpi mpich)
    if(NOT TARGET quern_mpi_${library})
        continue()
    endif()
    get_target_property(package quern_mpi_${library} QUERN_PACKAGE)
    find_package(PkgConfig QUIET REQUIRED)
    pkg_check_modules(QUERN_OMP_${library} REQUIRED QUIET IMPORTED_TARGET ${package})
    set(target quern_omp_${library})
    add_library(${target} SHARED $<TARGET_OBJECTS:quern_omp_code> $<TARGET_OBJECTS:quern_mpi_${library}>)
    add_library(quern::omp_${library} ALIAS ${target})
    target_link_libraries(${target} PRIVATE quern::quern PkgConfig::QUERN_OMP_${library})
    target_link_options(
        ${target} PRIVATE "LINKER:--version-script=${both_exports}" "LINKER:-z,now" "LINKER:-z,nodelete"
        "LINKER:-Bsymbolic-functions")
    set_target_properties(
        ${target} PROPERTIES LINK_DEPENDS "${both_exports}" LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
                             INSTALL_RPATH "$ORIGIN")
    if(QUERN_INSTALL)
        install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    endif()
endforeach()
