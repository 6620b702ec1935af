# SPDX-License-Identifier: BSL-1.0
# Runs one compile-fail test: see quern_add_compile_fail. Called by ctest with COMMAND (words joined by |), SOURCE, EXPECT and
# MOST_LINES, which may be empty.

string(REPLACE "|" ";" COMMAND "${COMMAND}")
file(READ "${SOURCE}" text)
if(text MATCHES "QUERN_MUST_COMPILE")
    execute_process(COMMAND ${COMMAND} -DQUERN_MUST_COMPILE RESULT_VARIABLE status ERROR_VARIABLE diagnostic)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "does not compile even with QUERN_MUST_COMPILE:\n${diagnostic}")
    endif()
endif()

execute_process(COMMAND ${COMMAND} RESULT_VARIABLE status ERROR_VARIABLE diagnostic)
if(status EQUAL 0)
    message(FATAL_ERROR "compiles, but must not")
elseif(NOT diagnostic MATCHES "${EXPECT}")
    message(FATAL_ERROR "fails with another diagnostic than '${EXPECT}':\n${diagnostic}")
endif()

if(MOST_LINES)
    string(REGEX MATCHALL "\n" ends "${diagnostic}")
    list(LENGTH ends lines)
    if(lines GREATER MOST_LINES)
        message(FATAL_ERROR "fails with ${lines} lines, more than ${MOST_LINES}:\n${diagnostic}")
    endif()
endif()
