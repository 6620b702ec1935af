# SPDX-License-Identifier: BSL-1.0
# What makes building this tree shorter and changes nothing that is compiled: one precompiled header for each kind of
# target, and ccache and the linker mold when they are installed. Used only when Quern is the top project.

# The headers of the standard library and of others that most files of a kind include; none of Quern's, so that a change of
# Quern compiles only what includes it. Sources still include what they use: the header checks and the consumers compile
# without any of this.
set(quern_standard_headers <algorithm> <array> <atomic> <chrono> <cstdint> <cstdio> <exception> <functional> <memory> <mutex>
                           <new> <optional> <span> <stop_token> <string> <string_view> <thread> <tuple> <type_traits>
                           <utility> <vector>)
set(quern_headers_of_library ${quern_standard_headers} <charconv> <map>)
set(quern_headers_of_program ${quern_standard_headers} <iterator> <map> <fmt/format.h>)
set(quern_headers_of_test ${quern_standard_headers} <future> <numeric> <semaphore> <sstream> <gtest/gtest.h>)
set(quern_kinds_of_targets library program test)

set(quern_can_precompile OFF)
if(PROJECT_IS_TOP_LEVEL)
    option(QUERN_PRECOMPILE "Precompile the headers of the standard library, GoogleTest and fmt" ON)
    option(QUERN_CCACHE "Compile through ccache when it is installed" ON)
    option(QUERN_MOLD "Link with mold when it is installed" ON)
    set(quern_can_precompile ${QUERN_PRECOMPILE})
endif()

if(PROJECT_IS_TOP_LEVEL AND QUERN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(QUERN_CCACHE_PROGRAM ccache)
    mark_as_advanced(QUERN_CCACHE_PROGRAM)
    if(QUERN_CCACHE_PROGRAM)
        # What ccache asks for before it keeps anything that was compiled with a precompiled header; and paths below this
        # folder as relative ones, so that a second checkout, wherever it lies, finds what the first one compiled.
        set(CMAKE_CXX_COMPILER_LAUNCHER
            "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
            CCACHE_NOHASHDIR=true "${QUERN_CCACHE_PROGRAM}")
        set(quern_compiler_needs_for_cache "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
    endif()
endif()

# A program of tests has 100 MB of debug information, which the usual linker copies in two to four seconds.
if(PROJECT_IS_TOP_LEVEL AND QUERN_MOLD AND NOT CMAKE_CROSSCOMPILING)
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=mold QUERN_CAN_LINK_WITH_MOLD)
    if(QUERN_CAN_LINK_WITH_MOLD)
        add_link_options(-fuse-ld=mold)
    endif()
endif()

# quern_precompile(<target> <library|program|test>): gives it the precompiled header of its kind. The first target of a kind
# makes it; the others must be compiled with the same options, or the compiler says that it cannot be used.
function(quern_precompile target kind)
    if(NOT kind IN_LIST quern_kinds_of_targets)
        message(FATAL_ERROR "quern_precompile(${target}): '${kind}'; accepted: ${quern_kinds_of_targets}")
    endif()
    if(NOT quern_can_precompile)
        return()
    endif()
    # gcc 12 forgets of what is precompiled that it lies in system headers, and warns of std::string's own copying.
    target_compile_options(
        ${target} PRIVATE ${quern_compiler_needs_for_cache}
                          "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
    get_property(first GLOBAL PROPERTY QUERN_PRECOMPILED_${kind})
    if(first)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        target_precompile_headers(${target} PRIVATE ${quern_headers_of_${kind}})
        set_property(GLOBAL PROPERTY QUERN_PRECOMPILED_${kind} ${target})
    endif()
endfunction()
