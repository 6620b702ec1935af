# SPDX-License-Identifier: BSL-1.0
# What clang's standard library asks of a build when that is libc++, and what of the system was built for another one. Nothing
# is looked at for gcc, whose library has all that Quern uses. Included once by the top CMakeLists.txt.
include(CheckCXXSourceCompiles)

# quern_compiles(<variable> <options> <source>): whether C++20 of this source compiles; asked once.
function(quern_compiles variable options source)
    set(CMAKE_REQUIRED_FLAGS "-std=c++20 ${options}")
    set(CMAKE_REQUIRED_QUIET ON)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("${source}" ${variable})
endfunction()

# QUERN_LIBCXX: whether the standard library is libc++. quern_language_options: what Quern, and all that includes it, must be
# compiled with. quern_fmt: the target of fmt for programs.
set(quern_language_options "")
set(quern_fmt fmt::fmt)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    quern_compiles(QUERN_LIBCXX "" "#include <version>\n#ifndef _LIBCPP_VERSION\n#error\n#endif\n")
endif()
if(QUERN_LIBCXX)
    # Debian's libfmt is compiled for libstdc++; the two libraries in one program would each throw exceptions of its own kind.
    set(quern_fmt fmt::fmt-header-only)
    message(STATUS "The standard library is libc++: tools and applications compile fmt's headers in place of linking the "
                   "system's libfmt, which is built for libstdc++")

    # Before version 20 libc++ shows stop tokens only to those who ask for what is experimental.
    set(source "#include <stop_token>\nbool stopped(const std::stop_token& t) { return t.stop_requested(); }\n")
    quern_compiles(QUERN_HAS_STOP_TOKEN "" "${source}")
    if(NOT QUERN_HAS_STOP_TOKEN)
        quern_compiles(QUERN_HAS_EXPERIMENTAL_STOP_TOKEN -fexperimental-library "${source}")
        if(NOT QUERN_HAS_EXPERIMENTAL_STOP_TOKEN)
            message(FATAL_ERROR "libc++ of ${CMAKE_CXX_COMPILER} has no std::stop_token, not even with -fexperimental-library; "
                                "accepted: libc++ 19 or newer, or libstdc++ 12 or newer (-stdlib=libstdc++)")
        endif()
        set(quern_language_options -fexperimental-library)
        message(STATUS "This libc++ has std::stop_token only with -fexperimental-library: all that links Quern is compiled so")
    endif()
    if(PROJECT_IS_TOP_LEVEL AND QUERN_BUILD_BENCH)
        message(FATAL_ERROR "QUERN_BUILD_BENCH is '${QUERN_BUILD_BENCH}'; accepted with libc++: OFF, as the benchmarks link "
                            "peers that are built for libstdc++")
    endif()
endif()

# quern_add_language_options(<target>): for the target and all that links it.
function(quern_add_language_options target)
    get_target_property(type ${target} TYPE)
    set(scope PUBLIC)
    if(type STREQUAL "INTERFACE_LIBRARY")
        set(scope INTERFACE)
    endif()
    target_compile_options(${target} ${scope} "$<$<COMPILE_LANGUAGE:CXX>:${quern_language_options}>")
endfunction()

# quern_check_googletest(): ends with a sentence if the GoogleTest that was found does not link with this libc++.
function(quern_check_googletest)
    if(NOT QUERN_LIBCXX OR QUERN_GTEST_IS_FOR_LIBCXX)
        return()
    endif()
    set(CMAKE_REQUIRED_FLAGS -std=c++20)
    set(CMAKE_REQUIRED_LIBRARIES GTest::gtest Threads::Threads)
    check_cxx_source_compiles(
        "#include <gtest/gtest.h>\nint main() { return testing::PrintToString(std::string()).empty() ? 1 : 0; }\n"
        QUERN_GTEST_IS_FOR_LIBCXX)
    if(NOT QUERN_GTEST_IS_FOR_LIBCXX)
        message(FATAL_ERROR "The GoogleTest that was found does not link with libc++, as it is built for libstdc++. Install its "
                            "sources as /usr/src/googletest (Debian: googletest), name one that is built with "
                            "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS} by GTest_DIR, or configure with -DQUERN_BUILD_TESTS=OFF")
    endif()
endfunction()
