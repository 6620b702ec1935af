# SPDX-License-Identifier: BSL-1.0
# What the scripts of the consumer tests share. Included by install.cmake and run.cmake.

# run(<command>...): stops the test with the command's output when it fails; `output` in the caller is what it printed.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    list(JOIN ARGV " " command)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
    endif()
    message(STATUS "${command}")
    set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(<text> <regex> <what>): stops the test unless the text matches.
function(expect text regex what)
    if(NOT text MATCHES "${regex}")
        message(FATAL_ERROR "${what}: '${regex}' expected in\n${text}")
    endif()
endfunction()

# expect_no(<text> <regex> <what>): stops the test if the text matches.
function(expect_no text regex what)
    if(text MATCHES "${regex}")
        message(FATAL_ERROR "${what}: no '${regex}' expected in\n${text}")
    endif()
endfunction()
