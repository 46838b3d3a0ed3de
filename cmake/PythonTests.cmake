# tests/python/test_*.py, by pytest: one test for each file. They do not depend on the compiler, so they run where the
# package can be loaded as it is installed: in the release build.
if(TACIT_HAS_PYTHON AND NOT TACIT_WERROR)
  execute_process(COMMAND "${TACIT_PYTHON_PROGRAM}" -c "import pytest" RESULT_VARIABLE no_pytest OUTPUT_QUIET
                                                                       ERROR_QUIET)
  if(no_pytest)
    message(STATUS "pytest not found: the Python package is not tested")
  else()
    file(GLOB python_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/python/test_*.py")
    foreach(source IN LISTS python_tests)
      get_filename_component(file "${source}" NAME_WE)
      string(REGEX REPLACE "^test_" "" name "${file}")
      add_test(NAME python.${name} COMMAND "${TACIT_PYTHON_PROGRAM}" -m pytest -q -p no:cacheprovider "${source}"
               WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
      set_tests_properties(
        python.${name}
        PROPERTIES
          LABELS "default;python"
          TIMEOUT 900
          ENVIRONMENT
          "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=Agg;TACIT_SOURCE=${PROJECT_SOURCE_DIR};TACIT_BUILD=${PROJECT_BINARY_DIR}"
      )
    endforeach()
  endif()
endif()
