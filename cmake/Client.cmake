# libtacit_client: the user's side of local privacy, for devices. Made of the same objects as libtacit, as far as a device
# needs them, with plain loops (src/linalg/blas_plain.c) in the place of OpenBLAS; it needs libsodium and the C library.
# tests/house/client.sh keeps it so.
set(TACIT_CLIENT_ROOMS base text board noise linalg account sums contribute release plan agents client)

# What both libraries have. Of account, a device needs plans, their calibration and the door, not the accountant.
string(REPLACE ";" "|" rooms "${TACIT_CLIENT_ROOMS}")
set(TACIT_CLIENT_SOURCES ${TACIT_SOURCES})
list(FILTER TACIT_CLIENT_SOURCES INCLUDE REGEX "/src/(${rooms})/.*\\.c$")
set(accountant ${TACIT_CLIENT_SOURCES})
list(FILTER accountant INCLUDE REGEX "/src/account/")
list(FILTER accountant EXCLUDE REGEX "/(gdp|ledger|plan|single)\\.c$")
# Nor does it start threads, wait, or read files.
set(hosted crew file parallel thread wait)
list(TRANSFORM hosted REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/base/\\1.c")
list(REMOVE_ITEM TACIT_CLIENT_SOURCES ${accountant} ${hosted} "${PROJECT_SOURCE_DIR}/src/linalg/blas_lapack.c"
     "${PROJECT_SOURCE_DIR}/src/agents/families.c" "${PROJECT_SOURCE_DIR}/src/agents/explain.c"
     "${PROJECT_SOURCE_DIR}/src/sums/strategies.c")
list(REMOVE_ITEM TACIT_SOURCES ${TACIT_CLIENT_SOURCES})

# Sections of their own, so that the linker can leave out what is not called.
function(tacit_object_library target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(
    ${target} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
                      "${TACIT_GENERATED_DIR}")
  target_link_libraries(${target} PRIVATE tacit_flags ${TACIT_LIBRARIES})
endfunction()
tacit_object_library(tacit_client_objects ${TACIT_CLIENT_SOURCES})
tacit_object_library(tacit_plain_objects "${PROJECT_SOURCE_DIR}/src/linalg/blas_plain.c"
                     "${PROJECT_SOURCE_DIR}/src/agents/families_local.c" "${PROJECT_SOURCE_DIR}/src/sums/strategies_local.c")
target_compile_options(tacit_client_objects PRIVATE -ffunction-sections -fdata-sections)
# Square roots of vectors: a root that sets errno is a call. No other bit changes.
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/linalg/batched_eigen.c" PROPERTIES COMPILE_OPTIONS -fno-math-errno)
target_compile_options(tacit_plain_objects PRIVATE -ffunction-sections -fdata-sections)
# gcc 12.2 for ARM ends with an internal error (vect_transform_reduction) when it vectorizes a loop of this file.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/contribute/table_reach.c" PROPERTIES COMPILE_OPTIONS -fno-tree-vectorize)
endif()

# WebAssembly links the objects (cmake/Wasm.cmake).
if(TACIT_WASM)
  return()
endif()
set(TACIT_CLIENT_LIBRARIES PkgConfig::SODIUM Threads::Threads m)
foreach(kind IN ITEMS shared static)
  string(TOUPPER ${kind} kind_upper)
  add_library(tacit_client_${kind} ${kind_upper} $<TARGET_OBJECTS:tacit_client_objects>
                                                 $<TARGET_OBJECTS:tacit_plain_objects>)
  target_include_directories(
    tacit_client_${kind} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(tacit_client_${kind} PRIVATE $<BUILD_INTERFACE:tacit_flags>
                                                     ${TACIT_CLIENT_LIBRARIES} INTERFACE m)
  set_target_properties(tacit_client_${kind} PROPERTIES OUTPUT_NAME tacit_client LINKER_LANGUAGE C)
endforeach()
set(map "${PROJECT_SOURCE_DIR}/src/client/exports.map")
# Its own calls stay inside, whatever else the program has of the same name.
target_link_options(tacit_client_shared PRIVATE -Wl,--gc-sections,-Bsymbolic-functions
                                                "-Wl,--version-script=${map}")
set_target_properties(tacit_client_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 EXPORT_NAME client
                                                     LINK_DEPENDS "${map}")
set_target_properties(tacit_client_static PROPERTIES EXPORT_NAME client_static)
add_library(tacit::client ALIAS tacit_client_shared)
add_library(tacit::client_static ALIAS tacit_client_static)
