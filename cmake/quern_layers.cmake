# SPDX-License-Identifier: BSL-1.0
# Layers as targets. Each layer is compiled with an include root of its own, a folder of symbolic links in the build
# directory that shows it itself and the layers below; so an include that points upward does not compile. Users of a layer
# get the plain include folder. Called by src/<layer>/CMakeLists.txt.

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

# quern_add_layer(NAME <layer> [SOURCES ...] [OTHER_SOURCES ...] [DEPENDS <layer>...] [PUBLIC_LIBS ...] [PRIVATE_LIBS ...]
#                 [PRIVATE_DEFINITIONS ...])
# Adds quern_<layer>, alias quern::<layer>: a library, or an INTERFACE target while it has no sources. DEPENDS names the
# layers it uses, each of them below it. OTHER_SOURCES are those that only another configuration compiles.
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
        add_library(${target} ${arg_SOURCES})
        quern_configure_target(${target})
        quern_use_include_root(${target} ${arg_NAME})
        quern_precompile(${target} library)
        target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
        target_compile_definitions(${target} PRIVATE ${arg_PRIVATE_DEFINITIONS})
        target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LIBS})
        set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
        # A plug-in may contain Quern: as code that can be loaded anywhere and be removed again (what gcc makes unique in the
        # process never is), and, when it is the plug-in's own copy, hidden, so that a host keeps to its copy and the
        # plug-in to this one.
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>")
        if(NOT BUILD_SHARED_LIBS)
            set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
            target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:ASM>:-DQUERN_HIDDEN>")
        endif()
    else()
        add_library(${target} INTERFACE)
    endif()
    add_library(quern::${arg_NAME} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_NAME})
    target_compile_features(${target} ${scope} cxx_std_20)

    # A target that belongs to a layer must not inherit the whole include folder from the layers it links.
    set(outside "$<NOT:$<BOOL:$<TARGET_PROPERTY:QUERN_LAYER>>>")
    target_include_directories(
        ${target} INTERFACE "$<BUILD_INTERFACE:$<${outside}:${PROJECT_SOURCE_DIR}/include>>"
                            "$<BUILD_INTERFACE:$<${outside}:${quern_generated_include}>>"
                            "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(${target} ${scope} ${arg_PUBLIC_LIBS})
    foreach(lower IN LISTS arg_DEPENDS)
        if(lower STREQUAL arg_NAME OR NOT lower IN_LIST QUERN_VISIBLE_${arg_NAME})
            message(FATAL_ERROR "layer ${arg_NAME} may not depend on ${lower}: see cmake/layers.txt")
        endif()
        target_link_libraries(${target} ${scope} quern::${lower})
    endforeach()

    set_property(GLOBAL APPEND PROPERTY QUERN_LAYER_TARGETS ${target})
endfunction()

# quern_add_umbrella(): quern::quern, all layers at once; what #include <quern/quern.hpp> needs.
function(quern_add_umbrella)
    get_property(layers GLOBAL PROPERTY QUERN_LAYER_TARGETS)
    add_library(quern INTERFACE)
    add_library(quern::quern ALIAS quern)
    list(REVERSE layers)
    target_link_libraries(quern INTERFACE ${layers})
endfunction()
