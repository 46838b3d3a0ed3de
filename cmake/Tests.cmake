# Every tests/{unit,stat,gates,fault}/test_*.c is one cmocka program, and one test, but for gates.replay. Labels: unit tests are `quick`
# (seconds), and so is a file named test_*_quick.c; the others are `default` (minutes); a file named test_*_slow.c is `slow`
# and is run on request.
if(NOT CMOCKA_FOUND)
  message(STATUS "cmocka not found: the unit tests are not built")
endif()

file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.c")

# Include paths and libraries that every test program shares.
function(tacit_test_program target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests"
                                               "${TACIT_GENERATED_DIR}")
  target_compile_definitions(${target} PRIVATE TACIT_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE tacit_flags tacit_cli tacit_static ${TACIT_LIBRARIES})
endfunction()

if(CMOCKA_FOUND)
  if(support)
    add_library(tacit_test_support STATIC ${support})
    tacit_test_program(tacit_test_support)
    target_link_libraries(tacit_test_support PUBLIC PkgConfig::CMOCKA PkgConfig::MPFR PkgConfig::GMP)
    if(TACIT_HAS_POSTGRES) # Debian has the programs of each version in a directory of its own
      file(GLOB postgres_bin "/usr/lib/postgresql/*/bin")
      find_program(TACIT_INITDB initdb HINTS ${postgres_bin})
      get_filename_component(postgres_bin "${TACIT_INITDB}" DIRECTORY)
      target_compile_definitions(tacit_test_support PUBLIC TACIT_HAS_POSTGRES
                                                           TACIT_POSTGRES_BIN="${postgres_bin}")
    endif()
  endif()

  foreach(kind IN ITEMS unit stat gates fault)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${kind}/test_*.c")
    foreach(source IN LISTS sources)
      get_filename_component(file "${source}" NAME_WE)
      string(REGEX REPLACE "^test_" "" name "${file}")
      set(target ${kind}_${file})
      if(name STREQUAL "project" AND NOT GLPK_LIBRARY)
        message(STATUS "GLPK not found: ${kind}.${name} is not built")
        continue()
      endif()
      add_executable(${target} "${source}")
      tacit_test_program(${target})
      if(TARGET tacit_test_support)
        target_link_libraries(${target} PRIVATE tacit_test_support)
      endif()
      target_link_libraries(${target} PRIVATE PkgConfig::CMOCKA
                                              $<$<STREQUAL:${name},project>:${GLPK_LIBRARY}>)
      set_target_properties(
        ${target} PROPERTIES OUTPUT_NAME ${file} RUNTIME_OUTPUT_DIRECTORY
                                                 "${PROJECT_BINARY_DIR}/tests/${kind}")
      if(target STREQUAL "gates_test_replay") # a test for each learner, which the program names
        set(list "${PROJECT_BINARY_DIR}/tests/gates/replay_tests.cmake")
        if(NOT EXISTS "${list}")
          file(WRITE "${list}" "")
        endif()
        add_custom_command(
          TARGET ${target} POST_BUILD
          COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DNAME=gates.replay "-DOUT=${list}" -P
                  "${PROJECT_SOURCE_DIR}/cmake/list_tests.cmake")
        set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY TEST_INCLUDE_FILES "${list}")
        continue()
      endif()
      add_test(NAME ${kind}.${name} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
      if(name MATCHES "_slow$")
        set(label slow)
        set(limit 3600)
      elseif(kind STREQUAL "unit" OR name MATCHES "_quick$")
        set(label quick)
        set(limit 300)
      else()
        set(label default)
        set(limit 900)
      endif()
      set_tests_properties(${kind}.${name} PROPERTIES LABELS "${label};${kind}" TIMEOUT ${limit})
    endforeach()
  endforeach()
endif()

# The same tests once more with libtacit_client: its plain linear algebra under what is built on it, and that it is whole.
if(CMOCKA_FOUND)
  foreach(source IN ITEMS unit/client/test_client unit/linalg/test_symmetric unit/linalg/test_kernel_function
                          unit/linalg/test_optimism unit/plan/test_ridge unit/account/test_gdp fault/test_alloc_client)
    get_filename_component(file "${source}" NAME)
    string(REGEX REPLACE "^test_" "" name "${file}")
    set(target device_${file})
    add_executable(${target} "${PROJECT_SOURCE_DIR}/tests/${source}.c"
                             "${PROJECT_SOURCE_DIR}/tests/support/check.c"
                             "${PROJECT_SOURCE_DIR}/tests/support/main.c"
                             "${PROJECT_SOURCE_DIR}/tests/support/solve.c")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(${target} PRIVATE TACIT_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${target} PRIVATE tacit_flags tacit_client_static ${TACIT_CLIENT_LIBRARIES}
                                            PkgConfig::CMOCKA)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${file} RUNTIME_OUTPUT_DIRECTORY
                                                                  "${PROJECT_BINARY_DIR}/tests/device")
    add_test(NAME device.${name} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(device.${name} PROPERTIES LABELS "quick;device" TIMEOUT 300)
  endforeach()
endif()

# What a device with a seed reports: compared with WebAssembly (tests/wasm) and with other processors (make arm).
add_executable(seeded_report "${PROJECT_SOURCE_DIR}/tests/wasm/seeded_report.c")
target_link_libraries(seeded_report PRIVATE tacit_flags tacit_client_static ${TACIT_CLIENT_LIBRARIES})
set_target_properties(seeded_report PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/wasm")

if(CMOCKA_FOUND AND TACIT_HAS_SERVER)
  include(ServiceTests)
endif()

include(PythonTests)
include(BenchTests)
include(Fuzz)
include(House)
