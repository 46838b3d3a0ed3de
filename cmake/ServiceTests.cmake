# The decision service from the outside and in crashes. tests/service/test_*.py are scripts for pytest, which speak to the real program
# over HTTP; tests/service/test_*.c need the inside. fault_io.c makes disks fail and processes die; it is linked into every one of
# these programs, and preloaded into the command where they or the scripts start it.
file(GLOB service_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/service/test_*.c")
add_library(tacit_fault_io MODULE "${PROJECT_SOURCE_DIR}/tests/service/fault_io.c")
target_include_directories(tacit_fault_io PRIVATE "${PROJECT_SOURCE_DIR}/tests")
target_link_libraries(tacit_fault_io PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(tacit_fault_io PROPERTIES PREFIX "" OUTPUT_NAME fault_io LIBRARY_OUTPUT_DIRECTORY
                                                                     "${PROJECT_BINARY_DIR}/tests/service")
foreach(source IN LISTS service_tests)
  get_filename_component(file "${source}" NAME_WE)
  string(REGEX REPLACE "^test_" "" name "${file}")
  set(needs_postgres OFF) # a real one, killed and cut off; one compiler is enough for that
  if(name MATCHES "^(rivals|failover|proxy|groups|scale|front_ends|move)")
    set(needs_postgres ON)
    if(NOT TACIT_HAS_POSTGRES)
      continue()
    endif()
  endif()
  set(target service_${file})
  add_executable(${target} "${source}" "${PROJECT_SOURCE_DIR}/tests/service/fault_io.c")
  tacit_test_program(${target})
  target_link_libraries(${target} PRIVATE tacit_test_support PkgConfig::CMOCKA ${CMAKE_DL_LIBS})
  target_compile_definitions(
    ${target} PRIVATE TACIT_COMMAND="$<TARGET_FILE:tacit_command>" TACIT_SOURCE="${PROJECT_SOURCE_DIR}"
                      TACIT_FAULT_IO="$<TARGET_FILE:tacit_fault_io>"
                      TACIT_DEVICE="$<TARGET_FILE:example_device>")
  add_dependencies(${target} tacit_command tacit_fault_io example_device)
  if(TACIT_SANITIZE)
    target_compile_definitions(${target} PRIVATE TACIT_SANITIZED)
  endif()
  set_target_properties(
    ${target} PROPERTIES OUTPUT_NAME ${file} ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY
                                                               "${PROJECT_BINARY_DIR}/tests/service")
  if(needs_postgres AND (TACIT_WERROR OR TACIT_SANITIZE))
    continue()
  endif()
  add_test(NAME service.${name} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  if(name MATCHES "_slow$")
    set_tests_properties(service.${name} PROPERTIES LABELS "slow;service" TIMEOUT 3600)
  else()
    set_tests_properties(service.${name} PROPERTIES LABELS "default;service" TIMEOUT 600)
  endif()
  if(needs_postgres)
    set_tests_properties(service.${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  if(name STREQUAL "rivals_200_slow")
    set_tests_properties(service.${name} PROPERTIES LABELS "slow;service;kills")
  endif()
endforeach()

# A script is a test like a program, and its target has a program's name: building it builds what the script runs.
set(script_environment "PYTHONDONTWRITEBYTECODE=1;TACIT_BUILD=${PROJECT_BINARY_DIR}")
if(TACIT_SANITIZE)
  list(APPEND script_environment "TACIT_SANITIZED=1")
endif()
set(run_script "${CMAKE_COMMAND}" -E echo "SKIPPED: pytest is not installed here (scripts/setup installs it):")
if(TACIT_PYTHON_PROGRAM)
  execute_process(COMMAND "${TACIT_PYTHON_PROGRAM}" -c "import pytest" RESULT_VARIABLE no_pytest OUTPUT_QUIET
                                                                       ERROR_QUIET)
  if(NOT no_pytest)
    set(run_script "${TACIT_PYTHON_PROGRAM}" -m pytest -q -p no:cacheprovider)
  endif()
endif()
file(GLOB service_scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/service/test_*.py")
foreach(source IN LISTS service_scripts)
  get_filename_component(file "${source}" NAME_WE)
  string(REGEX REPLACE "^test_" "" name "${file}")
  add_custom_target(service_${file} DEPENDS tacit_command tacit_fault_io example_device)
  add_test(NAME service.${name} COMMAND ${run_script} "${source}" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties(
    service.${name} PROPERTIES LABELS "default;service" TIMEOUT 600 SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION
                               "^SKIPPED: " ENVIRONMENT "${script_environment}")
endforeach()

add_test(NAME service.kill_slow COMMAND ${run_script} "${PROJECT_SOURCE_DIR}/tests/service/test_kill.py"
         WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
set_tests_properties(
  service.kill_slow PROPERTIES LABELS "slow;service" TIMEOUT 3600 SKIP_REGULAR_EXPRESSION "^SKIPPED: " ENVIRONMENT
                               "TACIT_KILLS=1000;${script_environment}")

# The same once more on PostgreSQL: all that are about the service, and not about the file of its store. One compiler is enough for
# that.
set(on_postgres
    action_names
    batch
    counting
    decision_log
    declare
    device
    drops
    http
    idempotency
    kinds
    metrics
    refusals
    returning
    strict
    tables
    tickets
    tls
    tokens
    users
    visits
    warm)
if(TACIT_HAS_POSTGRES AND NOT TACIT_WERROR AND NOT TACIT_SANITIZE)
  foreach(name IN LISTS on_postgres)
    set(program service_test_${name})
    if(EXISTS "${PROJECT_SOURCE_DIR}/tests/service/test_${name}.py")
      set(program ${run_script} "${PROJECT_SOURCE_DIR}/tests/service/test_${name}.py")
    endif()
    add_test(NAME postgres.${name} COMMAND ${program} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(
      postgres.${name}
      PROPERTIES LABELS "default;service;postgres" TIMEOUT 600 SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION
                 "^SKIPPED: " ENVIRONMENT "TACIT_TEST_STORE=postgresql;${script_environment}")
  endforeach()
endif()
