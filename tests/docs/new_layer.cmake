# SPDX-License-Identifier: BSL-1.0
# Adds the layer of docs/extending/layer.md to a copy of the tree in WORK_DIR, as that page says, and builds it. Then lets it
# include a sibling, which must not compile.
cmake_minimum_required(VERSION 3.25)

set(layer "${SOURCE_DIR}/docs/extending/layer")
set(tree "${WORK_DIR}/tree")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${tree}/src/heartbeat" "${tree}/include/quern/heartbeat")
file(COPY "${SOURCE_DIR}/cmake" DESTINATION "${tree}")
foreach(name IN ITEMS CMakeLists.txt VERSION quern.pc.in quern_mpi.pc.in quern_localities.pc.in)
    file(CREATE_LINK "${SOURCE_DIR}/${name}" "${tree}/${name}" SYMBOLIC)
endforeach()
foreach(folder IN ITEMS src include/quern)
    file(GLOB parts RELATIVE "${SOURCE_DIR}/${folder}" "${SOURCE_DIR}/${folder}/*")
    foreach(part IN LISTS parts)
        file(CREATE_LINK "${SOURCE_DIR}/${folder}/${part}" "${tree}/${folder}/${part}" SYMBOLIC)
    endforeach()
endforeach()

file(READ "${SOURCE_DIR}/docs/extending/layer.md" page)
file(READ "${tree}/cmake/layers.txt" layers)
set(line "counters trace heartbeat\n")
string(FIND "${page}" "${line}" shown)
string(REPLACE "counters trace\n" "${line}" changed "${layers}")
if(shown EQUAL -1 OR changed STREQUAL layers)
    message(FATAL_ERROR "docs/extending/layer.md no longer shows a line that cmake/layers.txt can have: ${line}")
endif()
file(WRITE "${tree}/cmake/layers.txt" "${changed}")
file(COPY "${layer}/heartbeat.hpp" DESTINATION "${tree}/include/quern/heartbeat")
file(COPY "${layer}/heartbeat.cpp" "${layer}/CMakeLists.txt" DESTINATION "${tree}/src/heartbeat")

function(build result text)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --target quern_heartbeat RESULT_VARIABLE status OUTPUT_VARIABLE out
                                                                                     ERROR_VARIABLE out)
    set(${result} "${status}" PARENT_SCOPE)
    set(${text} "${out}" PARENT_SCOPE)
endfunction()

execute_process(
    COMMAND
        "${CMAKE_COMMAND}" -G Ninja -S "${tree}" -B "${WORK_DIR}/build" "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Debug
        -DCMAKE_OPTIMIZE_DEPENDENCIES=ON -DQUERN_BUILD_TESTS=OFF -DQUERN_BUILD_APPS=OFF -DQUERN_BUILD_TOOLS=OFF --log-level=ERROR
        COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
build(status text)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "the layer of docs/extending/layer.md does not build:\n${text}")
endif()

file(READ "${layer}/heartbeat.cpp" source)
file(WRITE "${tree}/src/heartbeat/heartbeat.cpp" "#include <quern/trace/listener.hpp>\n${source}")
build(status text)
if(status EQUAL 0 OR NOT text MATCHES "fatal error: quern/trace/listener.hpp: No such file")
    message(FATAL_ERROR "the include of a sibling is not refused:\n${text}")
endif()
message("the layer builds, and the include of a sibling does not")
