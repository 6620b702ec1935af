# SPDX-License-Identifier: BSL-1.0
# What every target of Quern's own build has in common, the functions that add programs, and the list of sources that some
# target claims. Must not be applied to a target of another project.

# A host without a build type has its own sources compiled without optimisation. A runtime would be seven times slower, which
# nothing in the host would explain. Without NDEBUG: the headers mean the same in both.
set(quern_optimise "")
if(NOT PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
    set(quern_optimise -O2)
    message(WARNING "Quern is part of a project without a build type: its own sources are compiled with -O2, the project's "
                    "without, so that what is inline in Quern's headers is slow. Configure with -DCMAKE_BUILD_TYPE=Release")
endif()

# quern_configure_target(<target>): warnings and language level for sources compiled in this tree.
function(quern_configure_target target)
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    if(CMAKE_UNITY_BUILD)
        # gcc takes a source that another one includes for a header.
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
        # Such a source is named by its whole path, which would tell apart what ccache keeps of two checkouts where a file
        # looks at its own name (whose_code.cpp): by the path that ccache gives to all others.
        file(RELATIVE_PATH relative "${CMAKE_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/src")
        target_compile_options(${target} PRIVATE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/src/=${relative}/")
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL)
        target_compile_options(${target} PRIVATE ${quern_optimise})
        return()
    endif()
    set(cxx "$<COMPILE_LANGUAGE:CXX>")
    target_compile_options(
        ${target} PRIVATE "$<${cxx}:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wnon-virtual-dtor>"
                          "$<$<AND:${cxx},$<BOOL:${QUERN_WERROR}>>:-Werror>")
endfunction()

# quern_register_sources(<file>...): says that these files belong to some target, so that they are not orphans. Files that
# only another configuration compiles (another processor, another switch) are registered by hand.
function(quern_register_sources)
    foreach(file IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
        set_property(GLOBAL APPEND PROPERTY QUERN_REGISTERED_SOURCES "${file}")
    endforeach()
endfunction()

# Writes the registered sources where scripts/check-orphans reads them.
function(quern_write_registered_sources)
    get_property(files GLOBAL PROPERTY QUERN_REGISTERED_SOURCES)
    list(REMOVE_DUPLICATES files)
    list(JOIN files "\n" text)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/registered_sources.txt" CONTENT "${text}\n")
endfunction()

# quern_add_program(<target> OUTPUT <file name> SOURCES ... LIBS ...): a program in <build>/bin.
function(quern_add_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES;LIBS")
    quern_register_sources(${arg_SOURCES})
    add_executable(${target} ${arg_SOURCES})
    quern_configure_target(${target})
    quern_precompile(${target} program)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME "${arg_OUTPUT}" RUNTIME_OUTPUT_DIRECTORY
                                                                           "${PROJECT_BINARY_DIR}/bin")
    target_link_libraries(${target} PRIVATE quern::quern ${arg_LIBS})
endfunction()

# quern_add_app(<name> SOURCES ... [LIBS ...] [TEST_ARGS ...] [TIMEOUT seconds])
# Builds <build>/bin/<name> as target app_<name>. TEST_ARGS adds a test that runs it with these arguments: an application
# checks its own answer and returns non-zero when it is wrong.
function(quern_add_app name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBS;TEST_ARGS")
    quern_reject_unknown(quern_add_app "${name}" "${arg_UNPARSED_ARGUMENTS}")
    quern_add_program(app_${name} OUTPUT ${name} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS})
    if(QUERN_BUILD_TESTS AND DEFINED arg_TEST_ARGS)
        add_test(NAME app.${name} COMMAND app_${name} ${arg_TEST_ARGS})
        quern_limit_test(app.${name} app "${arg_TIMEOUT}")
    endif()
endfunction()

# quern_add_tool(<name> SOURCES ... [LIBS ...]): as an application, and installed.
function(quern_add_tool name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
    quern_reject_unknown(quern_add_tool "${name}" "${arg_UNPARSED_ARGUMENTS}")
    quern_add_program(tool_${name} OUTPUT ${name} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS})
    if(QUERN_INSTALL)
        install(TARGETS tool_${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif()
endfunction()

set(quern_asan_options "ASAN_OPTIONS=detect_stack_use_after_return=0:strict_string_checks=1")

# quern_limit_test(<test> <label> <seconds or empty>): label, time limit and sanitizer settings, for every test there is. Those
# with the longest limits start first, so that none is left to run alone at the end.
function(quern_limit_test test label timeout)
    if(NOT timeout)
        set(timeout 120)
    endif()
    math(EXPR timeout "${timeout} * ${QUERN_TEST_TIMEOUT_SCALE}")
    set(environment
        "${quern_asan_options}"
        "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
        "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:history_size=1:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
    # A report of a hang in a program that ends is a false alarm.
    set_tests_properties(
        ${test} PROPERTIES LABELS "${label}" TIMEOUT ${timeout} COST ${timeout} ENVIRONMENT "${environment}"
                           FAIL_REGULAR_EXPRESSION "quern: no task can run any more")
endfunction()

# quern_depends_on_load(<test>...): they assert a time, an order by time or a share of a processor. scripts/run-tests runs them
# last, one by one, and again where another program disturbed them; no other test is repeated.
function(quern_depends_on_load)
    foreach(test IN LISTS ARGN)
        set_property(TEST ${test} APPEND PROPERTY LABELS timing)
        set_property(TEST ${test} PROPERTY RUN_SERIAL ON)
    endforeach()
endfunction()

function(quern_reject_unknown function name unknown)
    if(unknown)
        message(FATAL_ERROR "${function}(${name}): unknown arguments: ${unknown}")
    endif()
endfunction()
