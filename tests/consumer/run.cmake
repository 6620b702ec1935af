# SPDX-License-Identifier: BSL-1.0
# Runs one consumer test: installs the build into a prefix of its own, then builds and runs a project that uses it. Called by
# ctest with KIND, BUILD_DIR, SOURCE_DIR, WORK_DIR, LIBDIR, CXX, VERSION.

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
    endif()
    message(STATUS "${ARGV}")
endfunction()

set(prefix "${WORK_DIR}/prefix")
set(build "${WORK_DIR}/build")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${build}")

set(common -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/${KIND}" -B "${build}" "-DCMAKE_CXX_COMPILER=${CXX}"
           "-DEXPECTED_VERSION=${VERSION}")
if(NOT KIND STREQUAL "fetch_content")
    run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
    set(expected share/quern/gdb/quern.py)
    if(EXISTS "${prefix}/bin/quern")
        list(APPEND expected share/man/man1/quern.1 share/bash-completion/completions/quern)
    endif()
    foreach(file IN LISTS expected)
        if(NOT EXISTS "${prefix}/${file}")
            message(FATAL_ERROR "${file} is not installed")
        endif()
    endforeach()
endif()

if(KIND STREQUAL "find_package")
    run("${CMAKE_COMMAND}" ${common} "-DCMAKE_PREFIX_PATH=${prefix}")
    run("${CMAKE_COMMAND}" --build "${build}")
elseif(KIND STREQUAL "fetch_content")
    # As a unity build, which a host may choose; one that is none is the build in BUILD_DIR.
    run("${CMAKE_COMMAND}" ${common} "-DQUERN_SOURCE_DIR=${SOURCE_DIR}" -DFETCHCONTENT_FULLY_DISCONNECTED=ON
        -DCMAKE_UNITY_BUILD=ON)
    run("${CMAKE_COMMAND}" --build "${build}" --target consumer)
elseif(KIND STREQUAL "pkg_config")
    # Moved before use: the pkg-config file must find its prefix from its own place.
    file(RENAME "${prefix}" "${WORK_DIR}/moved")
    run(sh "${CMAKE_CURRENT_LIST_DIR}/pkg_config/build.sh" "${CXX}" "${WORK_DIR}/moved/${LIBDIR}/pkgconfig" "${VERSION}"
        "${build}/consumer")
else()
    message(FATAL_ERROR "no consumer '${KIND}'")
endif()
run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${prefix}/${LIBDIR}:${WORK_DIR}/moved/${LIBDIR}" "${build}/consumer")
