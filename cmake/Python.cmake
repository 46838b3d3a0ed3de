# The Python package: python/*.c become tacit/_tacit.abi3.so, on CPython's limited API, so that one build serves 3.11
# and all later versions. It has the library inside and needs the same system libraries. PYTHONPATH=build/python uses it
# from the tree; the target tacit_wheel (`make python`) packs it for pip.
option(TACIT_PYTHON "Build the Python package where Python 3.11 or later has its headers" ON)

# The system's Python first: numpy, pytest and the others come as its packages.
find_program(TACIT_PYTHON_PROGRAM NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TACIT_PYTHON_PROGRAM NAMES python3)
set(TACIT_HAS_PYTHON OFF)
# A program without instruments cannot load a library that has them.
if(TACIT_PYTHON AND TACIT_PYTHON_PROGRAM AND NOT TACIT_SANITIZE AND NOT TACIT_COVERAGE AND NOT TACIT_FUZZ)
  execute_process(
    COMMAND "${TACIT_PYTHON_PROGRAM}" -c
            "import sys, sysconfig; print(sysconfig.get_path('include') if sys.version_info >= (3, 11) else '')"
    OUTPUT_VARIABLE TACIT_PYTHON_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(TACIT_PYTHON_INCLUDE AND EXISTS "${TACIT_PYTHON_INCLUDE}/Python.h")
    set(TACIT_HAS_PYTHON ON)
  else()
    message(STATUS "Python 3.11 or later with headers not found: the Python package is not built")
  endif()
endif()

if(TACIT_HAS_PYTHON)
  set(python_out "${PROJECT_BINARY_DIR}/python")
  file(GLOB python_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/*.c")
  add_library(tacit_python MODULE ${python_sources})
  target_include_directories(tacit_python SYSTEM PRIVATE "${TACIT_PYTHON_INCLUDE}")
  target_link_libraries(tacit_python PRIVATE tacit_flags tacit_static ${TACIT_LIBRARIES})
  # Python's own symbols come from the program that loads it; ours stay inside.
  target_link_options(tacit_python PRIVATE -Wl,--exclude-libs,ALL)
  target_link_libraries(tacit_python PRIVATE -Wl,-z,undefs) # after the flag that forbids them
  set_target_properties(tacit_python PROPERTIES BUILD_WITH_INSTALL_RPATH ON PREFIX "" OUTPUT_NAME _tacit SUFFIX .abi3.so
                                                LIBRARY_OUTPUT_DIRECTORY "${python_out}/tacit")

  # The rest is copied beside it.
  file(GLOB python_modules CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/tacit/*.py"
       "${PROJECT_SOURCE_DIR}/python/tacit/*.pyi" "${PROJECT_SOURCE_DIR}/python/tacit/py.typed")
  set(python_copies)
  foreach(source IN LISTS python_modules)
    get_filename_component(name "${source}" NAME)
    add_custom_command(
      OUTPUT "${python_out}/tacit/${name}"
      COMMAND "${CMAKE_COMMAND}" -E copy "${source}" "${python_out}/tacit/${name}"
      DEPENDS "${source}"
      VERBATIM)
    list(APPEND python_copies "${python_out}/tacit/${name}")
  endforeach()
  add_custom_target(tacit_python_package ALL DEPENDS ${python_copies})
  add_dependencies(tacit_python_package tacit_python)

  # The wheel: what `wheel pack` wants is a directory with the package and a description of it.
  execute_process(
    COMMAND "${TACIT_PYTHON_PROGRAM}" -c
            "import sysconfig; print(sysconfig.get_platform().replace('-', '_').replace('.', '_'))"
    OUTPUT_VARIABLE TACIT_PYTHON_PLATFORM OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(wheel_dir "${python_out}/wheel/tacit-${PROJECT_VERSION}")
  set(wheel_info "${wheel_dir}/tacit-${PROJECT_VERSION}.dist-info")
  configure_file("${PROJECT_SOURCE_DIR}/python/METADATA.in" "${wheel_info}/METADATA" @ONLY)
  configure_file("${PROJECT_SOURCE_DIR}/python/WHEEL.in" "${wheel_info}/WHEEL" @ONLY)
  add_custom_target(
    tacit_wheel
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${wheel_dir}/tacit"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${wheel_dir}/tacit"
    COMMAND "${CMAKE_COMMAND}" -E copy ${python_copies} "$<TARGET_FILE:tacit_python>" "${wheel_dir}/tacit"
    COMMAND "${CMAKE_COMMAND}" -E copy "${PROJECT_SOURCE_DIR}/LICENSE" "${wheel_info}/LICENSE"
    COMMAND "${TACIT_PYTHON_PROGRAM}" -m wheel pack --dest-dir "${python_out}" "${wheel_dir}"
    DEPENDS tacit_python_package
    COMMENT "Packing the wheel"
    VERBATIM)
endif()
