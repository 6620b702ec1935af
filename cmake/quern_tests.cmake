# SPDX-License-Identifier: BSL-1.0
# The functions that register tests. A test is one GoogleTest program and one ctest entry with a time limit; its name in
# ctest is <label>.<name>. Used by the CMakeLists.txt files below tests/ only.

if(CMAKE_CROSSCOMPILING AND EXISTS /usr/src/googletest)
    add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
else()
    find_package(GTest REQUIRED)
endif()

# gcc 12's thread sanitizer refuses the wide address randomisation of newer kernels; run without it where that is allowed.
set(quern_test_launcher "")
if(QUERN_SANITIZE STREQUAL "thread")
    execute_process(COMMAND setarch -R true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(quern_test_launcher setarch -R)
    endif()
endif()

set(QUERN_TEST_LABELS unit stress model conformance app consumer)

# Under the sanitizers, compiling the tests takes longer than running them: without optimisation less than half as long. What
# they test is compiled as ever, but for what lies in headers.
set(quern_test_options "")
if(QUERN_SANITIZE)
    set(quern_test_options -O0 -g1)
endif()

# quern_add_test(<name> SOURCES ... [LIBS ...] [LABEL unit] [TIMEOUT 60] [DEFINITIONS ...] [OPTIONS ...])
# LIBS defaults to quern::quern; a unit test of a layer names quern::<layer>. TIMEOUT is in seconds, before
# QUERN_TEST_TIMEOUT_SCALE. OPTIONS are further compiler options.
function(quern_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;LIBS;DEFINITIONS;OPTIONS")
    quern_reject_unknown(quern_add_test "${name}" "${arg_UNPARSED_ARGUMENTS}")
    if(NOT arg_LABEL)
        set(arg_LABEL unit)
    elseif(NOT arg_LABEL IN_LIST QUERN_TEST_LABELS)
        message(FATAL_ERROR "quern_add_test(${name}): LABEL is '${arg_LABEL}'; accepted: ${QUERN_TEST_LABELS}")
    endif()
    if(NOT arg_LIBS)
        set(arg_LIBS quern::quern)
    endif()
    set(target test_${arg_LABEL}_${name})
    quern_register_sources(${arg_SOURCES})
    add_executable(${target} ${arg_SOURCES})
    quern_configure_target(${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
    target_compile_options(${target} PRIVATE ${quern_test_options} ${arg_OPTIONS})
    target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest_main)
    if(quern_test_launcher)
        set(command ${quern_test_launcher} "$<TARGET_FILE:${target}>")
    else()
        set(command ${target}) # by name, so that a cross build runs it in its emulator
    endif()
    add_test(NAME ${arg_LABEL}.${name} COMMAND ${command})
    quern_limit_test(${arg_LABEL}.${name} ${arg_LABEL} "${arg_TIMEOUT}")
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

# quern_add_compile_fail(<name> <source.cpp> EXPECT <regex> [LAYER <layer>] [OPTIONS ...])
# The source must not compile and the diagnostic must match. With LAYER it is compiled as part of that layer, else as user
# code. Where the source mentions QUERN_MUST_COMPILE, it must compile with that macro defined: so that it fails for the one
# reason that the macro takes away, and not for a misspelt name.
function(quern_add_compile_fail name source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXPECT;LAYER" "OPTIONS")
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
                "-DEXPECT=${arg_EXPECT}" -P "${PROJECT_SOURCE_DIR}/cmake/compile_fail.cmake")
    quern_limit_test(compile_fail.${name} unit 60)
endfunction()
