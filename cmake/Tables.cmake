# src/noise/make_tables.c, a program of its own, computes the sampler's tables in multiple precision
# at build time and writes them to its standard output; src/noise/*.c include them as
# "noise/tables.inc". Where programs of this build cannot be run, TACIT_TABLES names the file that another build has made;
# the digits do not depend on the machine.
set(TACIT_TABLES "" CACHE FILEPATH "noise/tables.inc of another build of this tree; empty: computed here")
if(TACIT_TABLES)
  configure_file("${TACIT_TABLES}" "${TACIT_GENERATED_DIR}/noise/tables.inc" COPYONLY)
  return()
endif()
set(generator "${PROJECT_SOURCE_DIR}/src/noise/make_tables.c")
file(GLOB generator_exists CONFIGURE_DEPENDS "${generator}")

if(generator_exists)
  add_executable(make_tables "${generator}")
  target_compile_definitions(make_tables PRIVATE _GNU_SOURCE)
  target_compile_options(make_tables PRIVATE -O2 -ffp-contract=off)
  target_include_directories(make_tables PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                                 "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(make_tables PRIVATE tacit_warnings PkgConfig::MPFR PkgConfig::GMP m)

  set(tables "${TACIT_GENERATED_DIR}/noise/tables.inc")
  file(MAKE_DIRECTORY "${TACIT_GENERATED_DIR}/noise")
  add_custom_command(
    OUTPUT "${tables}"
    COMMAND make_tables > "${tables}.part"
    COMMAND "${CMAKE_COMMAND}" -E rename "${tables}.part" "${tables}"
    DEPENDS make_tables
    COMMENT "Computing the sampler's tables"
    VERBATIM)
  add_custom_target(tacit_tables DEPENDS "${tables}")
  add_dependencies(tacit_client_objects tacit_tables)
endif()
