# SPDX-License-Identifier: BSL-1.0
# Sources with pragmas as parts of a target (docs/pragmas.md). In Quern's own tree and, installed, by find_package(quern).

# quern_add_pragma_sources(<target> [<source>...]): adds the C and C++ sources, and has all sources of the target compiled
# through `quern cc` and `quern c++`, which pass on the target's compiler and its options; sources without pragmas are compiled
# as always. The target is linked with quern::task_functions. The command is QUERN_COMMAND, else the target tool_quern, else
# the program quern in PATH. For the generators Ninja and Makefiles: they know launchers.
function(quern_add_pragma_sources target)
    if(NOT TARGET "${target}")
        message(FATAL_ERROR "quern_add_pragma_sources(${target}): there is no target of that name")
    endif()
    if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
        message(FATAL_ERROR "quern_add_pragma_sources(${target}): the generator is ${CMAKE_GENERATOR}; accepted: Ninja, Makefiles")
    endif()
    foreach(source IN LISTS ARGN)
        if(NOT source MATCHES "\\.(c|cc|cpp|cxx|C)$")
            message(FATAL_ERROR "quern_add_pragma_sources(${target}): '${source}'; accepted: sources in C and C++")
        endif()
    endforeach()
    target_sources(${target} PRIVATE ${ARGN})
    if(DEFINED QUERN_COMMAND)
        set(command "${QUERN_COMMAND}")
    elseif(TARGET tool_quern)
        set(command "$<TARGET_FILE:tool_quern>")
        add_dependencies(${target} tool_quern)
    else()
        find_program(QUERN_PROGRAM quern HINTS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin" REQUIRED)
        set(command "${QUERN_PROGRAM}")
    endif()
    set_target_properties(
        ${target}
        PROPERTIES C_COMPILER_LAUNCHER "${command};cc;--compiler"
                   CXX_COMPILER_LAUNCHER "${command};c++;--compiler"
                   LINKER_LANGUAGE CXX
                   UNITY_BUILD OFF
                   DISABLE_PRECOMPILE_HEADERS ON)
    target_link_libraries(${target} PRIVATE quern::task_functions)
endfunction()
