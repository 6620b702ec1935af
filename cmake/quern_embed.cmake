# SPDX-License-Identifier: BSL-1.0
# Files that a library carries within it, as text. Run as a script it writes the source:
#   cmake -DOUTPUT=<file.cpp> -DHEADER=<file.hpp> -DNAMESPACE=<ns> "-DPARTS=<name>=<file>+<file>|<name>=…" -P quern_embed.cmake
# Included, it offers quern_embed().

# quern_embed(<file.cpp> HEADER <file.hpp> NAMESPACE <namespace> PARTS <name>=<file>[+<file>…]…)
# Makes a source that defines each name as a std::string_view of its files one after the other; the header declares them.
function(quern_embed output)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NAMESPACE" "PARTS")
    set(files "")
    set(parts "")
    foreach(part IN LISTS arg_PARTS)
        string(REGEX MATCH "^([a-z_]+)=(.+)$" matched "${part}")
        string(REPLACE "+" ";" names "${CMAKE_MATCH_2}")
        set(paths "")
        foreach(name IN LISTS names)
            cmake_path(ABSOLUTE_PATH name NORMALIZE)
            list(APPEND paths "${name}")
        endforeach()
        list(APPEND files ${paths})
        list(JOIN paths "+" joined)
        list(APPEND parts "${CMAKE_MATCH_1}=${joined}")
    endforeach()
    list(JOIN parts "|" parts)
    set(script "${PROJECT_SOURCE_DIR}/cmake/quern_embed.cmake")
    add_custom_command(
        OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DHEADER=${arg_HEADER}" "-DNAMESPACE=${arg_NAMESPACE}"
                "-DPARTS=${parts}" -P "${script}"
        DEPENDS ${files} "${script}"
        COMMENT "Embedding ${arg_HEADER}"
        VERBATIM)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    # A text may be longer than the 65536 characters that every compiler must take. gcc and clang take more; clang warns.
    set(source "// Made by the build.\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
    string(REPLACE "|" ";" PARTS "${PARTS}")
    foreach(part IN LISTS PARTS)
        string(REGEX MATCH "^([a-z_]+)=(.+)$" matched "${part}")
        set(name "${CMAKE_MATCH_1}")
        string(REPLACE "+" ";" paths "${CMAKE_MATCH_2}")
        string(APPEND source "const std::string_view ${name} =")
        foreach(path IN LISTS paths)
            file(READ "${path}" text)
            string(APPEND source "\n    R\"quern~(${text})quern~\"")
        endforeach()
        string(APPEND source ";\n")
    endforeach()
    file(WRITE "${OUTPUT}" "${source}}\n")
endif()
