# SPDX-License-Identifier: BSL-1.0
# The functions that register tests. A test is one source of a GoogleTest program and one ctest entry with a time limit; its
# name in ctest is <label>.<name>. Used by the CMakeLists.txt files below tests/ only.

# Debian's libgtest.a is of the machine's own processor, and for libstdc++.
if((CMAKE_CROSSCOMPILING OR QUERN_LIBCXX) AND EXISTS /usr/src/googletest)
    add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
else()
    find_package(GTest REQUIRED)
    quern_check_googletest()
endif()

# gcc 12's thread sanitizer refuses the wide address randomisation of newer kernels; run without it where that is allowed.
set(quern_test_launcher "")
if(QUERN_SANITIZE STREQUAL "thread")
    execute_process(COMMAND setarch -R true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(quern_test_launcher setarch -R)
    endif()
endif()

set(QUERN_TEST_LABELS unit stress model conformance app consumer mpi omp)

# Compiling the tests takes longer than running them, and without optimisation less than half as long. What they test is
# compiled as its preset says, but for what lies in headers. Lines are known where a sanitizer shows them, and where a test
# compares them (quern_keep_lines).
if(QUERN_SANITIZE)
    set(quern_test_options -O0 -g1)
else()
    set(quern_test_options -O0 -g0)
endif()

# The main function of all test programs.
add_library(test_main STATIC "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
quern_register_sources("${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
quern_configure_target(test_main)
target_compile_options(test_main PRIVATE ${quern_test_options})
target_link_libraries(test_main PUBLIC GTest::gtest)
quern_precompile(test_main test)

# For tests of files and lines: whether the build knows them.
set(quern_test_has_lines "QUERN_TEST_HAS_LINES=$<AND:$<BOOL:${QUERN_WITH_LIBBACKTRACE}>,$<CONFIG:Debug>>")

# quern_add_test_program(<target> SOURCES ... [LIBS ...] [DEFINITIONS ...] [INCLUDES <folder>...] [OPTIONS ...])
# A GoogleTest program. OPTIONS are compiler options, in the place of those that tests usually have.
function(quern_add_test_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;DEFINITIONS;INCLUDES;OPTIONS")
    quern_reject_unknown(quern_add_test_program "${target}" "${arg_UNPARSED_ARGUMENTS}")
    quern_register_sources(${arg_SOURCES})
    add_executable(${target} ${arg_SOURCES})
    quern_configure_target(${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests" ${arg_INCLUDES})
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
    if(arg_OPTIONS)
        target_compile_options(${target} PRIVATE ${arg_OPTIONS})
    else()
        target_compile_options(${target} PRIVATE ${quern_test_options})
        quern_precompile(${target} test)
    endif()
    target_link_libraries(${target} PRIVATE ${arg_LIBS} test_main)
endfunction()

# quern_keep_lines(<source>): it tests that lines of its own are known.
function(quern_keep_lines source)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -g1)
    set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON) # that was compiled without
endfunction()

# quern_tell_path(<source> <macro> <path>): defines the macro as this path, in this source alone: a path differs between two
# checkouts, and what ccache keeps of all other sources serves both.
function(quern_tell_path source macro path)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS "${macro}=\"${path}\"")
endfunction()

# quern_add_test_entry(<name> PROGRAM <target> LABEL <label> [TIMEOUT seconds] [ARGUMENTS ...]): a run of it, as ctest's <name>.
function(quern_add_test_entry name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;LABEL;TIMEOUT" "ARGUMENTS")
    quern_reject_unknown(quern_add_test_entry "${name}" "${arg_UNPARSED_ARGUMENTS}")
    if(NOT arg_LABEL IN_LIST QUERN_TEST_LABELS)
        message(FATAL_ERROR "quern_add_test_entry(${name}): LABEL is '${arg_LABEL}'; accepted: ${QUERN_TEST_LABELS}")
    endif()
    set(command ${arg_PROGRAM}) # by name, so that a cross build runs it in its emulator
    if(quern_test_launcher)
        set(command ${quern_test_launcher} "$<TARGET_FILE:${arg_PROGRAM}>")
    endif()
    add_test(NAME ${name} COMMAND ${command} ${arg_ARGUMENTS})
    quern_limit_test(${name} ${arg_LABEL} "${arg_TIMEOUT}")
endfunction()

# quern_add_tests(<program> [NAMES <name>...] [SERIAL <name>...] [PLAIN <name>...] [PREFIX <prefix>] [LIBS ...] [LABEL unit]
# [TIMEOUT 60] [...])
# One program, test_<label>_<program>, of the sources <name>_test.cpp; in ctest each source is an entry of its own,
# <label>.<prefix><name>, that runs in a process of its own for at most TIMEOUT seconds (before QUERN_TEST_TIMEOUT_SCALE).
# SERIAL are those in which there is one thread, or whose threads do what those of another test do: the thread sanitizer does not
# build them. PLAIN
# are built by no sanitizer: rules and tables, text, command lines, and what only repeats with other types or policies the
# concurrency and the memory that other tests have.
# LIBS is quern::quern unless said; tests of a layer name quern::<layer>. More arguments are those of quern_add_test_program.
function(quern_add_tests program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT;PREFIX" "NAMES;SERIAL;PLAIN;LIBS")
    list(TRANSFORM arg_SERIAL APPEND _test.cpp OUTPUT_VARIABLE serial)
    list(TRANSFORM arg_PLAIN APPEND _test.cpp OUTPUT_VARIABLE plain)
    quern_register_sources(${serial} ${plain})
    if(NOT QUERN_SANITIZE STREQUAL "thread")
        list(APPEND arg_NAMES ${arg_SERIAL})
    endif()
    if(NOT QUERN_SANITIZE)
        list(APPEND arg_NAMES ${arg_PLAIN})
    endif()
    if(NOT arg_NAMES)
        return()
    endif()
    if(NOT arg_LABEL)
        set(arg_LABEL unit)
    endif()
    if(NOT arg_LIBS)
        set(arg_LIBS quern::quern)
    endif()
    set(target test_${arg_LABEL}_${program})
    list(TRANSFORM arg_NAMES APPEND _test.cpp OUTPUT_VARIABLE sources)
    quern_add_test_program(${target} SOURCES ${sources} LIBS ${arg_LIBS} ${arg_UNPARSED_ARGUMENTS})
    foreach(name IN LISTS arg_NAMES)
        quern_add_test_entry(
            ${arg_LABEL}.${arg_PREFIX}${name} PROGRAM ${target} LABEL ${arg_LABEL} TIMEOUT "${arg_TIMEOUT}"
            ARGUMENTS --source=${name}_test.cpp)
    endforeach()
endfunction()

# quern_add_test_library(<name> SOURCES ... [LIBS ...]): code that several tests share, as target test_library_<name>.
function(quern_add_test_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
    quern_reject_unknown(quern_add_test_library "${name}" "${arg_UNPARSED_ARGUMENTS}")
    set(target test_library_${name})
    quern_register_sources(${arg_SOURCES})
    add_library(${target} STATIC ${arg_SOURCES})
    quern_configure_target(${target})
    target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${target} PUBLIC ${arg_LIBS})
endfunction()

# quern_add_test_module(<name> SOURCES ... [LIBS ...]): a plug-in that a test loads while it runs, as target
# test_module_<name>. Pass $<TARGET_FILE:test_module_<name>> to the test as a definition.
function(quern_add_test_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
    quern_reject_unknown(quern_add_test_module "${name}" "${arg_UNPARSED_ARGUMENTS}")
    set(target test_module_${name})
    quern_register_sources(${arg_SOURCES})
    add_library(${target} MODULE ${arg_SOURCES})
    quern_configure_target(${target})
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
    target_link_libraries(${target} PRIVATE ${arg_LIBS})
endfunction()

# quern_add_compile_fail(<name> <source.cpp> EXPECT <regex> [LAYER <layer>] [MOST_LINES <n>] [OPTIONS ...])
# The source must not compile and the diagnostic must match. With LAYER it is compiled as part of that layer, else as user
# code. Where the source mentions QUERN_MUST_COMPILE, it must compile with that macro defined: so that it fails for the one
# reason that the macro takes away, and not for a misspelt name. MOST_LINES: so long may the diagnostic be.
function(quern_add_compile_fail name source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXPECT;LAYER;MOST_LINES" "OPTIONS")
    quern_reject_unknown(quern_add_compile_fail "${name}" "${arg_UNPARSED_ARGUMENTS}")
    if(NOT arg_EXPECT)
        message(FATAL_ERROR "quern_add_compile_fail(${name}): EXPECT is missing")
    endif()
    quern_register_sources(${source})
    set(include_dir "${PROJECT_SOURCE_DIR}/include")
    if(arg_LAYER)
        set(include_dir "${PROJECT_BINARY_DIR}/layers/${arg_LAYER}")
    endif()
    set(command "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only "-I${include_dir}" "-I${quern_generated_include}"
        ${arg_OPTIONS} "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    string(JOIN "|" command ${command})
    add_test(
        NAME compile_fail.${name}
        COMMAND "${CMAKE_COMMAND}" "-DCOMMAND=${command}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source}"
                "-DEXPECT=${arg_EXPECT}" "-DMOST_LINES=${arg_MOST_LINES}" -P "${PROJECT_SOURCE_DIR}/cmake/compile_fail.cmake")
    quern_limit_test(compile_fail.${name} unit 300)
endfunction()
