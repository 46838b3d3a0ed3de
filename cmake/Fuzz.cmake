# Every tests/fuzz/fuzz_<name>.c defines LLVMFuzzerTestOneInput. With TACIT_FUZZ and clang it gets the
# fuzzing engine; otherwise a driver that replays tests/fuzz/corpus/<name>/ with fixed mutations, and
# that replay is a test.
add_custom_target(fuzz_programs)
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c")
foreach(source IN LISTS fuzz_sources)
  get_filename_component(target "${source}" NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name "${target}")
  if(name MATCHES "^service" AND NOT TACIT_HAS_SERVER)
    continue()
  endif()
  add_executable(${target} "${source}")
  tacit_test_program(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  add_dependencies(fuzz_programs ${target})

  if(TACIT_FUZZ AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c")
    add_test(NAME fuzz.${name} COMMAND ${target} "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(fuzz.${name} PROPERTIES LABELS "default;fuzz" TIMEOUT 600)
  endif()
endforeach()
