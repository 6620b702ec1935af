# SPDX-License-Identifier: BSL-1.0
# Tests that run as several ranks. One source is a program for each MPI library that was found, and one entry in ctest for each
# library and number of ranks: <layer>.<name>.<library>.<ranks>. Used by tests/mpi and tests/localities only.

# So that root may start more ranks than there are cores, without rights to read the memory of other processes.
set(quern_mpi_test_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                               OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1
                               GTEST_COLOR=no) # Open MPI gives the ranks terminals, and scripts/run-tests reads no colours
if(QUERN_SANITIZE)
    # UCX, by which MPICH sends, replaces madvise() and others in the whole process, with code that takes a lock. glibc calls
    # madvise() at the end of a thread, which the thread sanitizer has forgotten by then: it crashes in the lock.
    list(APPEND quern_mpi_test_environment UCX_MEM_EVENTS=n
                                           "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/mpi/lsan.supp")
    # Open MPI's plug-ins do not free all, and are unloaded before anything could tell that it is theirs.
    set(quern_mpi_test_environment_of_openmpi "${quern_asan_options}:detect_leaks=0")
endif()

# Open MPI's default binds both workers of a rank to one core, and refuses more ranks than cores.
set(quern_starter_options_of_openmpi --oversubscribe --bind-to none)
set(quern_starter_options_of_mpich "")

# quern_find_mpi_starter(<library>): the starter that belongs to it, in the cache variable QUERN_STARTER_<library>.
function(quern_find_mpi_starter library)
    set(names_of_openmpi mpirun.openmpi orterun)
    set(names_of_mpich mpiexec.mpich mpiexec.hydra)
    find_program(QUERN_STARTER_${library} NAMES ${names_of_${library}} DOC "Starts programs of ${library}")
endfunction()

# quern_mpi_test_libraries(<variable>): the libraries for which tests can be built and run.
function(quern_mpi_test_libraries variable)
    set(found "")
    foreach(library IN ITEMS openmpi mpich)
        if(NOT TARGET quern::mpi_${library})
            continue()
        endif()
        quern_find_mpi_starter(${library})
        if(QUERN_STARTER_${library})
            list(APPEND found ${library})
        else()
            message(STATUS "no tests of quern::mpi_${library}: its starter (mpirun.openmpi, mpiexec.mpich) was not found")
        endif()
    endforeach()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()

# quern_slow_mpi_test_libraries(<variable>): the same for tests that take long. Under a sanitizer one only: MPICH if it was found,
# for which no report of a race or a lock is suppressed and leaks are looked for.
function(quern_slow_mpi_test_libraries variable)
    quern_mpi_test_libraries(found)
    if(QUERN_SANITIZE AND found)
        list(GET found -1 found)
    endif()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()

# quern_add_mpi_program(<target> <library> SOURCES ... [LAYER mpi] [LIBS ...] [DEFINITIONS ...]): a GoogleTest program with the main
# function of tests/mpi/main.cpp. LAYER: it uses quern::<layer>_<library>. The layer comes before every other library, so that its
# definitions of MPI's functions are found first.
function(quern_add_mpi_program target library)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "LAYER" "SOURCES;LIBS;DEFINITIONS")
    quern_reject_unknown(quern_add_mpi_program "${target}" "${arg_UNPARSED_ARGUMENTS}")
    if(NOT arg_LAYER)
        set(arg_LAYER mpi)
    endif()
    set(main "${PROJECT_SOURCE_DIR}/tests/mpi/main.cpp")
    quern_register_sources(${arg_SOURCES} "${main}")
    add_executable(${target} ${arg_SOURCES} "${main}")
    quern_configure_target(${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
    target_compile_options(${target} PRIVATE ${quern_test_options})
    quern_precompile(${target} test)
    target_link_libraries(${target} PRIVATE quern::${arg_LAYER}_${library} ${arg_LIBS} GTest::gtest)
endfunction()

# quern_add_mpi_entry(<name> <library> PROGRAM <target> RANKS <number> TIMEOUT <seconds> [PRELOAD <target>]): PRELOAD, a shared library, is
# preloaded into the ranks.
function(quern_add_mpi_entry name library)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "PROGRAM;RANKS;TIMEOUT;PRELOAD" "")
    quern_reject_unknown(quern_add_mpi_entry "${name}" "${arg_UNPARSED_ARGUMENTS}")
    set(preload "")
    if(arg_PRELOAD)
        set(preload env "LD_PRELOAD=$<TARGET_FILE:${arg_PRELOAD}>")
    endif()
    add_test(NAME ${name} COMMAND "${QUERN_STARTER_${library}}" ${quern_starter_options_of_${library}} -n ${arg_RANKS} ${quern_test_launcher} ${preload}
                                  "$<TARGET_FILE:${arg_PROGRAM}>")
    quern_limit_test(${name} mpi "${arg_TIMEOUT}")
    # A rank ends itself a little before ctest ends the starter, which could leave ranks behind.
    math(EXPR alarm "${arg_TIMEOUT} * ${QUERN_TEST_TIMEOUT_SCALE} - 3")
    set_property(
        TEST ${name} APPEND PROPERTY ENVIRONMENT "TEST_MPI_SECONDS=${alarm}" ${quern_mpi_test_environment}
                                                 ${quern_mpi_test_environment_of_${library}})
    set_property(TEST ${name} PROPERTY PROCESSORS 2)
endfunction()

# quern_add_mpi_script(<name> <library> SCRIPT <file> TIMEOUT <seconds> [ARGUMENTS ...]): a Python script that starts jobs itself. After its
# arguments come the starter and its options.
function(quern_add_mpi_script name library)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "SCRIPT;TIMEOUT" "ARGUMENTS")
    quern_reject_unknown(quern_add_mpi_script "${name}" "${arg_UNPARSED_ARGUMENTS}")
    add_test(NAME ${name} COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT}" ${arg_ARGUMENTS}
                                  "${QUERN_STARTER_${library}}" ${quern_starter_options_of_${library}})
    quern_limit_test(${name} mpi "${arg_TIMEOUT}")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${quern_mpi_test_environment})
    set_property(TEST ${name} PROPERTY PROCESSORS 2)
endfunction()

# quern_add_mpi_tests(<name> RANKS <number>... [LAYER mpi] [SOURCES ...] [LIBS ...] [DEFINITIONS ...] [TIMEOUT 60] [SLOW]): the sources are
# <name>_test.cpp and SOURCES, the entries <layer>.<name>.<library>.<ranks>. Under a sanitizer on the first number of ranks only.
# SLOW: quern_slow_mpi_test_libraries.
function(quern_add_mpi_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "TIMEOUT;LAYER" "RANKS;SOURCES;LIBS;DEFINITIONS")
    quern_reject_unknown(quern_add_mpi_tests "${name}" "${arg_UNPARSED_ARGUMENTS}")
    if(NOT arg_LAYER)
        set(arg_LAYER mpi)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    quern_mpi_test_libraries(libraries)
    if(arg_SLOW)
        quern_slow_mpi_test_libraries(libraries)
    endif()
    if(QUERN_SANITIZE)
        list(GET arg_RANKS 0 arg_RANKS)
    endif()
    foreach(library IN LISTS libraries)
        set(program test_${arg_LAYER}_${name}_${library})
        quern_add_mpi_program(
            ${program} ${library} LAYER ${arg_LAYER} SOURCES ${name}_test.cpp ${arg_SOURCES} LIBS ${arg_LIBS}
            DEFINITIONS "QUERN_TEST_MPI_LIBRARY=\"${library}\"" ${arg_DEFINITIONS})
        foreach(ranks IN LISTS arg_RANKS)
            quern_add_mpi_entry(
                ${arg_LAYER}.${name}.${library}.${ranks} ${library} PROGRAM ${program} RANKS ${ranks} TIMEOUT ${arg_TIMEOUT})
        endforeach()
    endforeach()
endfunction()
