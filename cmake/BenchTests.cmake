# Every benchmark runs for a moment (tests/bench/moment.py), with the smallest sizes: it works and prints JSON. Nothing is timed.
# Once is enough: this is left out where a compiler or its instruments are tested.
if(NOT TACIT_PYTHON_PROGRAM OR TACIT_WERROR OR TACIT_SANITIZE OR TACIT_COVERAGE OR TACIT_FUZZ)
  return()
endif()

function(tacit_bench_test name)
  add_test(NAME bench.${name} COMMAND "${TACIT_PYTHON_PROGRAM}" "${PROJECT_SOURCE_DIR}/tests/bench/moment.py" ${ARGN})
  set_tests_properties(bench.${name} PROPERTIES LABELS "default;bench" TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

get_property(programs TARGET bench_programs PROPERTY MANUALLY_ADDED_DEPENDENCIES)
foreach(program IN LISTS programs)
  string(REGEX REPLACE "_bench$" "" name ${program})
  tacit_bench_test(${name} $<TARGET_FILE:${program}>)
endforeach()
if(TARGET serve_bench AND TACIT_HAS_POSTGRES AND CMOCKA_FOUND)
  tacit_bench_test(serve_postgresql $<TARGET_FILE:serve_bench> --store postgresql)
endif()
if(TACIT_HAS_PYTHON)
  tacit_bench_test(python "${PROJECT_SOURCE_DIR}/python/bench.py" "${PROJECT_BINARY_DIR}")
endif()
