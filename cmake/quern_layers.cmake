# SPDX-License-Identifier: BSL-1.0
# Layers as targets, and the one library made of them. Each layer is compiled with an include root of its own, a folder of
# symbolic links in the build directory that shows it itself and the layers below; so an include that points upward does not
# compile. Users of a layer get the plain include folder. Called by src/<layer>/CMakeLists.txt and the top CMakeLists.txt.

# quern_read_layers(<file>): sets QUERN_LAYERS (bottom to top) and QUERN_VISIBLE_<layer> (what it may include).
function(quern_read_layers file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "^[a-z]")
    set(below "")
    foreach(line IN LISTS lines)
        string(REPLACE " " ";" siblings "${line}")
        foreach(layer IN LISTS siblings)
            set(QUERN_VISIBLE_${layer} ${below} ${layer} PARENT_SCOPE)
        endforeach()
        list(APPEND below ${siblings})
    endforeach()
    set(QUERN_LAYERS ${below} PARENT_SCOPE)
endfunction()

# The version header is generated from the file VERSION, the one place that says it.
set(quern_generated_include "${PROJECT_BINARY_DIR}/generated/include")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/VERSION")
configure_file(cmake/version.hpp.in "${quern_generated_include}/quern/version.hpp" @ONLY)
# Before 1.0.0 a minor version may break its users; the name that a program looks for when it starts says so.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(QUERN_ABI_VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
    set(QUERN_ABI_VERSION ${PROJECT_VERSION_MAJOR})
endif()

# quern_make_include_root(<layer>): the folder of links that the layer's own compilation sees.
function(quern_make_include_root layer)
    set(root "${PROJECT_BINARY_DIR}/layers/${layer}/quern")
    file(REMOVE_RECURSE "${root}")
    file(MAKE_DIRECTORY "${root}")
    foreach(visible IN LISTS QUERN_VISIBLE_${layer})
        file(CREATE_LINK "${PROJECT_SOURCE_DIR}/include/quern/${visible}" "${root}/${visible}" SYMBOLIC)
    endforeach()
endfunction()

# quern_use_include_root(<target> <layer>): makes a target of this tree compile as if it were part of the layer.
function(quern_use_include_root target layer)
    set(root "${PROJECT_BINARY_DIR}/layers/${layer}")
    set_target_properties(${target} PROPERTIES QUERN_LAYER ${layer})
    target_include_directories(${target} PRIVATE "${root}" "${quern_generated_include}")
    target_compile_options(${target} PRIVATE "-ffile-prefix-map=${root}/=${PROJECT_SOURCE_DIR}/include/")
endfunction()

# quern_use_plain_includes(<target>): what compiles against the target sees all public headers. One that belongs to a
# layer does not: it must not inherit the whole include folder from the layers it links.
function(quern_use_plain_includes target)
    set(outside "$<NOT:$<BOOL:$<TARGET_PROPERTY:QUERN_LAYER>>>")
    target_include_directories(
        ${target} INTERFACE "$<BUILD_INTERFACE:$<${outside}:${PROJECT_SOURCE_DIR}/include>>"
                            "$<BUILD_INTERFACE:$<${outside}:${quern_generated_include}>>"
                            "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endfunction()

# quern_compile_for_library(<target>): how the code of the library is compiled, whatever it becomes part of.
function(quern_compile_for_library target)
    set(cxx "$<COMPILE_LANGUAGE:CXX>")
    set(gcc "$<COMPILE_LANG_AND_ID:CXX,GNU>")
    # Position-independent also in libquern.a, and without what gcc makes unique in the process: a plug-in may contain Quern,
    # be loaded anywhere and be removed again. The few thread-local variables lie where a fixed offset finds them.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE "$<${gcc}:-fno-gnu-unique>" "$<${cxx}:-ftls-model=initial-exec>")
    if(BUILD_SHARED_LIBS)
        # Calls inside the library need not allow for another definition of the same function.
        target_compile_options(${target} PRIVATE "$<${cxx}:-fno-semantic-interposition>")
    else()
        # A plug-in's own copy is hidden, so that a host keeps to its copy and the plug-in to this one.
        set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:ASM>:-DQUERN_HIDDEN>")
    endif()
endfunction()

# quern_add_layer(NAME <layer> [SOURCES ...] [OTHER_SOURCES ...] [DEPENDS <layer>...] [PUBLIC_LIBS ...] [PRIVATE_LIBS ...]
#                 [PRIVATE_DEFINITIONS ...])
# Adds quern_<layer>, alias quern::<layer>: a static library for tests of the layer, or an INTERFACE target while it has no
# sources. Its objects become part of the library quern. DEPENDS names the layers it uses, each of them below it.
# OTHER_SOURCES are those that only another configuration compiles.
function(quern_add_layer)
    cmake_parse_arguments(
        PARSE_ARGV 0 arg "" "NAME" "SOURCES;OTHER_SOURCES;DEPENDS;PUBLIC_LIBS;PRIVATE_LIBS;PRIVATE_DEFINITIONS")
    quern_reject_unknown(quern_add_layer "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
    set(target quern_${arg_NAME})
    quern_make_include_root(${arg_NAME})
    quern_register_sources(${arg_SOURCES} ${arg_OTHER_SOURCES})

    set(scope INTERFACE)
    if(arg_SOURCES)
        set(scope PUBLIC)
        add_library(${target} STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
        quern_configure_target(${target})
        quern_use_include_root(${target} ${arg_NAME})
        quern_precompile(${target} library)
        quern_compile_for_library(${target})
        target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
        target_compile_definitions(${target} PRIVATE ${arg_PRIVATE_DEFINITIONS})
        target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LIBS})
        set_property(GLOBAL APPEND PROPERTY QUERN_LIBRARY_OBJECTS "$<TARGET_OBJECTS:${target}>")
        set_property(GLOBAL APPEND PROPERTY QUERN_LIBRARY_PRIVATE_LIBS ${arg_PRIVATE_LIBS})
    else()
        add_library(${target} INTERFACE)
    endif()
    add_library(quern::${arg_NAME} ALIAS ${target})
    target_compile_features(${target} ${scope} cxx_std_20)
    quern_add_language_options(${target})
    quern_use_plain_includes(${target})
    # A program with layers and with the library would have two copies: CMake refuses it.
    set_target_properties(${target} PROPERTIES INTERFACE_QUERN_COMES_AS layers COMPATIBLE_INTERFACE_STRING QUERN_COMES_AS)

    target_link_libraries(${target} ${scope} ${arg_PUBLIC_LIBS})
    foreach(lower IN LISTS arg_DEPENDS)
        if(lower STREQUAL arg_NAME OR NOT lower IN_LIST QUERN_VISIBLE_${arg_NAME})
            message(FATAL_ERROR "layer ${arg_NAME} may not depend on ${lower}: see cmake/layers.txt")
        endif()
        target_link_libraries(${target} ${scope} quern::${lower})
    endforeach()
endfunction()

# quern_add_library(): quern::quern, all layers in one libquern.a or, with BUILD_SHARED_LIBS, libquern.so. Called after all
# layers exist.
function(quern_add_library)
    get_property(objects GLOBAL PROPERTY QUERN_LIBRARY_OBJECTS)
    get_property(private_libs GLOBAL PROPERTY QUERN_LIBRARY_PRIVATE_LIBS)
    add_library(quern ${objects})
    add_library(quern::quern ALIAS quern)
    target_compile_features(quern PUBLIC cxx_std_20)
    quern_add_language_options(quern)
    quern_use_plain_includes(quern)
    if(NOT QUERN_WITH_COUNTERS)
        target_compile_definitions(quern INTERFACE QUERN_WITH_COUNTERS=0)
    endif()
    target_link_libraries(quern PUBLIC Threads::Threads PRIVATE ${private_libs})
    set_target_properties(
        quern PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${QUERN_ABI_VERSION}
                         INTERFACE_QUERN_COMES_AS library COMPATIBLE_INTERFACE_STRING QUERN_COMES_AS)
    if(BUILD_SHARED_LIBS)
        set(exports "${PROJECT_BINARY_DIR}/generated/quern.map")
        configure_file(cmake/quern.map.in "${exports}" @ONLY)
        # Bound at once: a task's stack and the crash handler are no places for the dynamic linker to look up names.
        target_link_options(quern PRIVATE "LINKER:--version-script=${exports}" "LINKER:-z,now" "LINKER:-Bsymbolic-functions")
        set_property(TARGET quern APPEND PROPERTY LINK_DEPENDS "${exports}")
    endif()
endfunction()
