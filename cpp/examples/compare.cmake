# Runs COMMAND with the file INPUT as standard input. Fails if the output differs from the file
# EXPECTED.
execute_process(COMMAND ${COMMAND} INPUT_FILE ${INPUT}
  OUTPUT_VARIABLE written ERROR_VARIABLE complaint RESULT_VARIABLE result)
file(READ ${EXPECTED} expected)
string(REPLACE "\r\n" "\n" written "${written}")
if(NOT result EQUAL 0 OR NOT written STREQUAL expected)
  message(FATAL_ERROR "exit status ${result}\n${complaint}\nwritten:\n${written}\n"
    "expected:\n${expected}")
endif()
