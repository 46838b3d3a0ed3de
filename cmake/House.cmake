# Tests of the house itself: layers, exported symbols, installation, headers, documents, command.
set(house "${PROJECT_SOURCE_DIR}/tests/house")
find_program(TACIT_CXX_COMPILER NAMES c++ g++ clang++)

function(tacit_house_test name)
  add_test(NAME house.${name} COMMAND ${ARGN})
  set_tests_properties(
    house.${name}
    PROPERTIES LABELS "quick;house" TIMEOUT 300 ENVIRONMENT
               "CC=${CMAKE_C_COMPILER};CXX=${TACIT_CXX_COMPILER};CMAKE=${CMAKE_COMMAND}")
endfunction()

tacit_house_test(layering "${house}/layering.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(layering_catches "${house}/layering.sh" --self-test)
tacit_house_test(names "${house}/names.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(names_catches "${house}/names.sh" --self-test)
tacit_house_test(spelling "${house}/spelling.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(spelling_catches "${house}/spelling.sh" --self-test)
tacit_house_test(planners "${house}/planners.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(planners_catches "${house}/planners.sh" --self-test)
tacit_house_test(sizes "${house}/sizes.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(sizes_catches "${house}/sizes.sh" --self-test)
tacit_house_test(run_by "${house}/run_by.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(run_by_catches "${house}/run_by.sh" --self-test)
tacit_house_test(headers "${house}/headers.sh" "${PROJECT_SOURCE_DIR}/include")
tacit_house_test(dependencies "${house}/dependencies.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(c_reference "${PROJECT_SOURCE_DIR}/scripts/c-reference" --check)
tacit_house_test(version "${house}/version.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(setup "${house}/setup.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(data "${house}/data.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(systemd "${house}/systemd.sh" "${PROJECT_SOURCE_DIR}/packaging/tacit.service")
set_tests_properties(house.systemd PROPERTIES SKIP_RETURN_CODE 77)
tacit_house_test(manuals "${house}/manuals.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
tacit_house_test(completion "${house}/completion.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
tacit_house_test(status_page "${house}/status.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(refusals "${house}/refusals.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(mutants "${PROJECT_SOURCE_DIR}/scripts/mutants" --check)
tacit_house_test(citations "${house}/citations.sh" "${PROJECT_SOURCE_DIR}")
tacit_house_test(citations_catches "${house}/citations.sh" --self-test)

# What passes the door of every learner: scripts/same compares it between two builds.
if(TARGET tacit_test_support)
  add_executable(door_tape "${house}/door_tape.c")
  tacit_test_program(door_tape)
  target_link_libraries(door_tape PRIVATE tacit_test_support PkgConfig::CMOCKA)
  set_target_properties(door_tape PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/house")
endif()

# These link against the libraries as a stranger would, which instrumented ones do not allow.
if(NOT TACIT_SANITIZE AND NOT TACIT_COVERAGE AND NOT TACIT_FUZZ)
  tacit_house_test(exported_symbols "${house}/symbols.sh" $<TARGET_FILE:tacit_shared>)
  tacit_house_test(client "${house}/client.sh" $<TARGET_FILE:tacit_client_shared>)
  tacit_house_test(install "${house}/install.sh" "${PROJECT_BINARY_DIR}")
  if(NOT TACIT_WERROR) # once is enough: no compiler changes them
    tacit_house_test(site "${house}/site.sh" "${PROJECT_SOURCE_DIR}")
    set_tests_properties(house.site PROPERTIES SKIP_RETURN_CODE 77)
    tacit_house_test(same "${PROJECT_SOURCE_DIR}/scripts/same" "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}"
                     door:explore-commit-linear "${PROJECT_SOURCE_DIR}/examples/demo.yaml")
    tacit_house_test(tutorials "${house}/tutorials.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
    set_tests_properties(house.tutorials PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  tacit_house_test(plugins "${house}/plugins.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  tacit_house_test(documents "${house}/documents.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
endif()

# Every example in C runs, and says by its exit status whether it came out as it should.
foreach(source IN LISTS examples)
  get_filename_component(name "${source}" NAME_WE)
  if(name STREQUAL "device") # wants a billboard: service.device and house.install run it
    continue()
  endif()
  add_test(NAME example.${name} COMMAND example_${name})
  set_tests_properties(example.${name} PROPERTIES LABELS "quick;house" TIMEOUT 300)
endforeach()

# tests/cli/*.test: command, stdout, stderr, exit status.
if(TARGET tacit_command)
  file(GLOB cli_cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cli/*.test")
  # Memory checkers have much to say about MPI itself.
  find_program(TACIT_MPIRUN mpirun)
  if(NOT TARGET tacit_mpi OR NOT TACIT_MPIRUN OR TACIT_SANITIZE)
    list(FILTER cli_cases EXCLUDE REGEX "_mpi\\.test$")
  endif()
  foreach(cases IN LISTS cli_cases)
    get_filename_component(name "${cases}" NAME_WE)
    add_test(NAME cli.${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/cli/run.sh"
                                      "${PROJECT_BINARY_DIR}" "${cases}")
    set_tests_properties(cli.${name} PROPERTIES LABELS "quick;cli" TIMEOUT 300 SKIP_RETURN_CODE 77)
    if(name MATCHES "_mpi$") # as root, and with more processes than processors; takes its time
      set_tests_properties(
        cli.${name}
        PROPERTIES
          LABELS "default;cli"
          ENVIRONMENT
          "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1"
      )
    endif()
  endforeach()
  add_test(NAME cli.runner_catches COMMAND "${PROJECT_SOURCE_DIR}/tests/cli/run.sh" --self-test)
  set_tests_properties(cli.runner_catches PROPERTIES LABELS "quick;cli" TIMEOUT 60)
endif()

# tests/browser: the report in Chromium; skipped, with a sentence, where there is none.
if(TARGET tacit_command)
  add_test(NAME browser.report COMMAND "${PROJECT_SOURCE_DIR}/tests/browser/run.sh" "${PROJECT_BINARY_DIR}")
  set_tests_properties(browser.report PROPERTIES LABELS "default;browser" TIMEOUT 300 SKIP_RETURN_CODE 77)
  if(TACIT_HAS_SERVER)
    add_test(NAME browser.live COMMAND "${PROJECT_SOURCE_DIR}/tests/browser/live.sh" "${PROJECT_BINARY_DIR}")
    set_tests_properties(browser.live PROPERTIES LABELS "default;browser" TIMEOUT 300 SKIP_RETURN_CODE 77)
    # tests/wasm: the npm package (make wasm), which belongs to the release build; skipped where it is not built.
    if(PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build")
      foreach(place IN ITEMS node browser packed demo bench)
        add_test(NAME wasm.${place} COMMAND "${PROJECT_SOURCE_DIR}/tests/wasm/run.sh" ${place} "${PROJECT_BINARY_DIR}")
        set_tests_properties(wasm.${place} PROPERTIES LABELS "default;browser" TIMEOUT 300 SKIP_RETURN_CODE 77 RESOURCE_LOCK wasm)
      endforeach()
      set_tests_properties(wasm.bench PROPERTIES ENVIRONMENT TACIT_RUNS=1)
      add_test(NAME wasm.web_demo COMMAND "${PROJECT_SOURCE_DIR}/tests/wasm/web_demo.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
      set_tests_properties(wasm.web_demo PROPERTIES LABELS "default;browser" TIMEOUT 300 SKIP_RETURN_CODE 77)
    endif()
    # tests/openapi: the document and the service are one; skipped where there is no node or no validator.
    add_test(NAME openapi.client COMMAND "${PROJECT_SOURCE_DIR}/tests/openapi/run.sh" "${PROJECT_BINARY_DIR}")
    set_tests_properties(openapi.client PROPERTIES LABELS "default;service" TIMEOUT 300 SKIP_RETURN_CODE 77)
  endif()
endif()
