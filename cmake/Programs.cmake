# examples/*.c: written as a user would, against the public headers and the shared library; device.c is for devices, and has the
# client's library alone.
file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.c")
foreach(source IN LISTS examples)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(example_${name} "${source}")
  if(name STREQUAL "device")
    target_link_libraries(example_${name} PRIVATE tacit_flags tacit_client_shared m)
  else()
    target_link_libraries(example_${name} PRIVATE tacit_flags tacit_shared m)
  endif()
  set_target_properties(
    example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                   "${PROJECT_BINARY_DIR}/examples")
endforeach()

# bench/*_bench.c: ratios measured in one run, printed as JSON lines. Tests run them for a moment (BenchTests.cmake) and time nothing.
add_library(bench_harness STATIC EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/bench/harness.c"
                                                  "${PROJECT_SOURCE_DIR}/bench/episodes.c"
                                                  "${PROJECT_SOURCE_DIR}/bench/store_fill.c")
target_include_directories(bench_harness PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                                                 "${TACIT_GENERATED_DIR}")
target_link_libraries(bench_harness PRIVATE tacit_flags)
file(GLOB benches CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*_bench.c")
add_custom_target(bench_programs)
foreach(source IN LISTS benches)
  get_filename_component(name "${source}" NAME_WE)
  if(name STREQUAL "serve_bench" AND NOT TACIT_HAS_SERVER)
    continue()
  endif()
  add_executable(${name} "${source}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/bench"
                                             "${TACIT_GENERATED_DIR}")
  if(name STREQUAL "client_bench") # as on a device
    target_link_libraries(${name} PRIVATE tacit_flags bench_harness tacit_client_static ${TACIT_CLIENT_LIBRARIES})
  else()
    target_link_libraries(${name} PRIVATE tacit_flags bench_harness tacit_static ${TACIT_LIBRARIES})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  add_dependencies(bench_programs ${name})
  if(name STREQUAL "serve_bench") # speaks to the command, as a client
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/bench/service_load.c"
                                   "${PROJECT_SOURCE_DIR}/bench/serve_postgres.c")
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    # a real PostgreSQL is started as the tests do
    target_link_libraries(${name} PRIVATE tacit_cli $<$<TARGET_EXISTS:tacit_test_support>:tacit_test_support>)
    target_compile_definitions(${name} PRIVATE TACIT_COMMAND="$<TARGET_FILE:tacit_command>")
    add_dependencies(${name} tacit_command)
  endif()
endforeach()
