# SPDX-License-Identifier: BSL-1.0
# Builds and runs one project that uses Quern. PREFIX is static, shared or both: the installed Quern that it finds, in a place
# to which it was moved. KIND: which of both it must get. MPI and STARTER: an MPI library and the program that starts ranks.
# LOCALITIES: whether Quern has the layer for it. Called by ctest with the variables that CMakeLists.txt beside it
# names, NAME, WAY, KIND and PREFIX.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(work "${WORK_DIR}/${NAME}")
set(prefix "${work}/moved")
set(build "${work}/build")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${build}")
set(kinds "${PREFIX}")
if(PREFIX STREQUAL "both")
    set(kinds static shared)
endif()
foreach(kind IN LISTS kinds)
    file(COPY "${WORK_DIR}/${kind}/prefix/" DESTINATION "${prefix}")
endforeach()

set(common -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/${WAY}" -B "${build}" "-DCMAKE_CXX_COMPILER=${CXX}"
           "-DEXPECTED_VERSION=${VERSION}")

# The program gives the right result, and uses the library of this kind.
function(check_program program)
    run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${prefix}/${LIBDIR}" "${program}")
    message(STATUS "${output}")
    run("${READELF}" -dW "${program}")
    if(KIND STREQUAL "shared")
        expect("${output}" "NEEDED[^\n]*libquern\\.so\\.${ABI_VERSION}\\]" "what the program needs")
    else()
        expect_no("${output}" "libquern" "what the program needs")
    endif()
endfunction()

# Its tasks wait for messages of each other, more of them than there are workers. ARGN: what starts each rank.
function(check_ranks program)
    run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${prefix}/${LIBDIR}" timeout 60 "${STARTER}" -n 2 ${ARGN} "${program}")
    foreach(rank IN ITEMS 0 1)
        expect("${output}" "rank ${rank} of 2 has all messages" "what two ranks print")
    endforeach()
endfunction()

# A function that its first locality calls at each.
function(check_calls program)
    run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${prefix}/${LIBDIR}" timeout 60 "${STARTER}" -n 2 "${program}")
    expect("${output}" "0 \\+ 1 = 1, from 2 localities" "what two localities print")
endfunction()

if(WAY STREQUAL "find_package")
    set(component "")
    if(PREFIX STREQUAL "both")
        set(component ${KIND})
    endif()
    run("${CMAKE_COMMAND}" ${common} "-DCMAKE_PREFIX_PATH=${prefix}" "-DCOMPONENT=${component}" "-DMPI=${MPI}"
        "-DLOCALITIES=${LOCALITIES}")
    run("${CMAKE_COMMAND}" --build "${build}")
    check_program("${build}/consumer")
    if(MPI)
        run(sh "${CMAKE_CURRENT_LIST_DIR}/pkg_config/build_ring.sh" "${CXX}" "${prefix}/${LIBDIR}/pkgconfig" "${MPI}"
            "${build}/ring_by_pkg_config")
        check_ranks("${build}/ring")
        check_ranks("${build}/ring_by_pkg_config")
        if(LOCALITIES)
            run(sh "${CMAKE_CURRENT_LIST_DIR}/pkg_config/build_calls.sh" "${CXX}" "${prefix}/${LIBDIR}/pkgconfig" "${MPI}"
                "${build}/calls_by_pkg_config")
            check_calls("${build}/calls")
            check_calls("${build}/calls_by_pkg_config")
        endif()
        if(KIND STREQUAL "shared")
            check_ranks("${build}/ring_shared")
            check_ranks("${build}/ring_plain" env "LD_PRELOAD=${prefix}/${LIBDIR}/libquern_mpi_${MPI}.so")
        endif()
    endif()
elseif(WAY STREQUAL "fetch_content")
    # As a unity build, which a host may choose; one that is none is the build in BUILD_DIR.
    # The host names no build type: Quern's own sources are optimised all the same, and the host is told; its are as it says.
    set(host ${common} "-DQUERN_SOURCE_DIR=${SOURCE_DIR}" -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DCMAKE_UNITY_BUILD=ON
             -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
    foreach(choice IN ITEMS -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-O1)
        run("${CMAKE_COMMAND}" ${host} ${choice} -B "${build}/told")
        expect_no("${output}" "without a build type" "what a host is told that has chosen by ${choice}")
        file(READ "${build}/told/compile_commands.json" commands)
        expect_no("${commands}" " -O2 " "commands of a host that has chosen by ${choice}")
        file(REMOVE_RECURSE "${build}/told")
    endforeach()
    run("${CMAKE_COMMAND}" ${host})
    expect("${output}" "without a build type.*CMAKE_BUILD_TYPE=Release" "what a host without a build type is told")
    file(READ "${build}/compile_commands.json" commands)
    string(REGEX MATCHALL "\"command\": [^\n]*" commands "${commands}")
    foreach(command IN LISTS commands)
        if(command MATCHES "tests/consumer/(fetch_content/\\.\\./)?main\\.cpp|CMakeFiles/consumer")
            expect_no("${command}" " -O" "the command of a source of the host")
        elseif(NOT command MATCHES "\\.S\"")
            expect("${command}" " -O2 " "the command of a source of Quern")
        endif()
    endforeach()
    run("${CMAKE_COMMAND}" --build "${build}" --target consumer)
    check_program("${build}/consumer")
elseif(WAY STREQUAL "pkg_config")
    foreach(how IN ITEMS "" --static)
        run(sh "${CMAKE_CURRENT_LIST_DIR}/pkg_config/build.sh" "${CXX}" "${prefix}/${LIBDIR}/pkgconfig" "${VERSION}"
            "${build}/consumer${how}" ${how})
        # Only hwloc needs libudev: a bare Debian has no file for -ludev.
        expect_no("${output}" "-ludev" "pkg-config ${how} --libs quern")
        check_program("${build}/consumer${how}")
    endforeach()
else()
    message(FATAL_ERROR "no consumer '${WAY}'")
endif()

# What has passed is not looked at again, and there are many of them.
file(REMOVE_RECURSE "${work}")
