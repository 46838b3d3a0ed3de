# Writes OUT, a file for ctest: a test NAME.x for each line x that PROGRAM --list prints, which is `PROGRAM x`. The one about the
# program's own table is quick.
execute_process(COMMAND ${PROGRAM} --list OUTPUT_VARIABLE list OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" list "${list}")
set(text "")
foreach(item IN LISTS list)
  set(label default)
  if(item STREQUAL "table")
    set(label quick)
  endif()
  string(APPEND text "add_test(${NAME}.${item} ${PROGRAM} ${item})\n"
         "set_tests_properties(${NAME}.${item} PROPERTIES LABELS \"${label};gates\" TIMEOUT 900)\n")
endforeach()
file(WRITE "${OUT}" "${text}")
