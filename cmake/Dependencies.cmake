# What the system provides. The packages and their reasons are listed in scripts/setup. A device needs libsodium alone.
if(TACIT_WASM)
  include(Sodium)
  set(TACIT_LIBRARIES tacit_sodium m)
  return()
endif()
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
if(TACIT_ONLY_CLIENT)
  set(TACIT_LIBRARIES PkgConfig::SODIUM Threads::Threads m)
  return()
endif()
# For the program that computes tables (cmake/Tables.cmake) and for tests.
pkg_check_modules(MPFR REQUIRED IMPORTED_TARGET mpfr)
pkg_check_modules(GMP REQUIRED IMPORTED_TARGET gmp)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
# Headers only: src/report/paper.c opens the libraries when a PDF or PNG is asked for.
# Memory checkers have much to say about fontconfig, which keeps what it has read until the process ends.
pkg_check_modules(RSVG librsvg-2.0>=2.54)
if(RSVG_FOUND AND NOT TACIT_SANITIZE)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/report/paper.c"
    PROPERTIES COMPILE_DEFINITIONS TACIT_HAS_RSVG COMPILE_OPTIONS "-isystem;$<JOIN:${RSVG_INCLUDE_DIRS},;-isystem;>")
elseif(NOT RSVG_FOUND)
  message(STATUS "librsvg not found (scripts/setup --for figures installs it): figures are SVG only")
endif()
if(TACIT_TESTS)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  find_library(GLPK_LIBRARY glpk) # one test's second opinion; has no pkg-config file
endif()

set(TACIT_LIBRARIES PkgConfig::SODIUM PkgConfig::YAML PkgConfig::SQLITE PkgConfig::LAPACKE PkgConfig::OPENBLAS
    Threads::Threads m)
