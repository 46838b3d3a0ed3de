# Tests of libtacit_client where nothing else is built: on another processor, run by the toolchain's emulator. Those of noise,
# sums, the account and the client; the accountant and the sums of the joint model, which devices do not have, are built for
# their own tests. And a device with a
# seed, whose report must have the bytes that it has elsewhere (scripts/arm-compare).
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(MPFR REQUIRED IMPORTED_TARGET mpfr)
find_path(GMP_INCLUDE gmp.h PATHS "${TACIT_ARM_ROOT}/usr/include/aarch64-linux-gnu"
          "${TACIT_ARM_ROOT}/usr/include/arm-linux-gnueabihf" REQUIRED NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
include_directories(SYSTEM "${GMP_INCLUDE}")
find_library(GMP_LIBRARY gmp PATHS "${TACIT_ARM_ROOT}/usr/lib/aarch64-linux-gnu"
             "${TACIT_ARM_ROOT}/usr/lib/arm-linux-gnueabihf" REQUIRED NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
tacit_object_library(tacit_accountant_objects ${accountant} "${PROJECT_SOURCE_DIR}/src/sums/strategies.c")
set(support check main solve stats cases sums)
list(TRANSFORM support REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tests/support/\\1.c")

foreach(source IN ITEMS
        unit/chacha unit/draw_loop unit/tag unit/stream unit/seal stat/distribution # noise
        unit/lattice unit/lattice_sensitivity unit/blt unit/blt_norm unit/once unit/returning unit/sum unit/sum_refusals
        unit/sum_report unit/sum_returning unit/sum_steps unit/tree unit/saved # sums
        unit/gdp unit/ledger unit/plan unit/compose unit/optimal_composition unit/pld unit/zcdp # account
        unit/client unit/device_state unit/wide unit/decimal unit/symmetric unit/ridge unit/optimism unit/kernel_function)
  get_filename_component(name "${source}" NAME)
  get_filename_component(kind "${source}" DIRECTORY)
  add_executable(arm_test_${name} "${PROJECT_SOURCE_DIR}/tests/${kind}/test_${name}.c" ${support}
                                  $<TARGET_OBJECTS:tacit_accountant_objects>)
  target_include_directories(arm_test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests"
                                                      "${TACIT_GENERATED_DIR}")
  target_compile_definitions(arm_test_${name} PRIVATE TACIT_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(arm_test_${name} PRIVATE tacit_flags tacit_client_static ${TACIT_CLIENT_LIBRARIES}
                                                 PkgConfig::CMOCKA PkgConfig::MPFR ${GMP_LIBRARY})
  add_test(NAME arm.${name} COMMAND arm_test_${name})
  set_tests_properties(arm.${name} PROPERTIES TIMEOUT 3600)
endforeach()

add_executable(seeded_report "${PROJECT_SOURCE_DIR}/tests/wasm/seeded_report.c")
target_link_libraries(seeded_report PRIVATE tacit_flags tacit_client_static ${TACIT_CLIENT_LIBRARIES})
add_executable(example_device "${PROJECT_SOURCE_DIR}/examples/device.c")
target_link_libraries(example_device PRIVATE tacit_flags tacit_client_shared m)
set_target_properties(example_device PROPERTIES OUTPUT_NAME device)
