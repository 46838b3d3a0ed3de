# tests/service/test_*.c: the decision service from the outside and in crashes. fault_io.c makes disks fail and processes die; it is
# linked into every one of these programs, and preloaded into the command where they start it.
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
  if(name STREQUAL "prometheus") # skipped, with a sentence, where nothing of Prometheus' is installed
    set_tests_properties(service.${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endforeach()

# The same programs once more on PostgreSQL: all that are about the service, and not about the file of its store. One compiler is
# enough for that.
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
    add_test(NAME postgres.${name} COMMAND service_test_${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(
      postgres.${name} PROPERTIES LABELS "default;service;postgres" TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
                                  "TACIT_TEST_STORE=postgresql")
  endforeach()
endif()
