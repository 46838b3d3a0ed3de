# The npm package of the client: build/wasm/ (TACIT_WASM_PACKAGE). One WebAssembly module of the same objects that
# libtacit_client is made of, with flat exports (src/wasm), and the modules of web/client around it.
set(TACIT_WASM_PACKAGE "${PROJECT_BINARY_DIR}/package" CACHE PATH "Where the npm package is put")

file(GLOB_RECURSE flat CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/wasm/*.c")
add_executable(tacit_wasm ${flat} $<TARGET_OBJECTS:tacit_client_objects> $<TARGET_OBJECTS:tacit_plain_objects>)
# Its functions are declared nowhere: their callers are not C.
set_source_files_properties(${flat} PROPERTIES COMPILE_OPTIONS "-Wno-missing-prototypes;-Wno-missing-declarations")
target_include_directories(tacit_wasm PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
                                              "${TACIT_GENERATED_DIR}")
target_link_libraries(tacit_wasm PRIVATE tacit_flags ${TACIT_LIBRARIES})
# A reactor: a library without a main. Memory grows as it is needed, up to half a gigabyte (a stated choice: a billboard may
# take 256 MiB by default). Nothing is exported but what src/wasm names.
target_link_options(
  tacit_wasm PRIVATE -mexec-model=reactor -Wl,--gc-sections,--strip-all,--max-memory=536870912,-z,stack-size=262144)
set_target_properties(tacit_wasm PROPERTIES OUTPUT_NAME tacit-client SUFFIX .wasm)

# The licenses of what is linked in: libsodium, the C library, and arithmetic that WebAssembly does not have.
string(REGEX MATCH "^[0-9]+" clang "${CMAKE_C_COMPILER_VERSION}")
set(compiler_rt "/usr/share/doc/libclang-rt-${clang}-dev-wasm32/copyright")
set(TACIT_LICENSE Apache-2.0)
configure_file("${PROJECT_SOURCE_DIR}/web/client/package.json.in" "${PROJECT_BINARY_DIR}/package.json" @ONLY)
set(modules client.js client.d.ts core.js storage.js node.js node.d.ts README.md)
list(TRANSFORM modules PREPEND "${PROJECT_SOURCE_DIR}/web/client/")
add_custom_command(
  OUTPUT "${TACIT_WASM_PACKAGE}/package.json"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${TACIT_WASM_PACKAGE}"
  COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:tacit_wasm>" ${modules} "${PROJECT_SOURCE_DIR}/LICENSE" "${TACIT_WASM_PACKAGE}"
  COMMAND "${CMAKE_COMMAND}" -E copy "${TACIT_SODIUM_SOURCE}/LICENSE" "${TACIT_WASM_PACKAGE}/LICENSE.libsodium"
  COMMAND "${CMAKE_COMMAND}" -E copy /usr/share/doc/wasi-libc/copyright "${TACIT_WASM_PACKAGE}/LICENSE.wasi-libc"
  COMMAND "${CMAKE_COMMAND}" -E copy "${compiler_rt}" "${TACIT_WASM_PACKAGE}/LICENSE.compiler-rt"
  COMMAND "${CMAKE_COMMAND}" -E copy "${PROJECT_BINARY_DIR}/package.json" "${TACIT_WASM_PACKAGE}/package.json"
  DEPENDS tacit_wasm ${modules} "${PROJECT_BINARY_DIR}/package.json"
  COMMENT "Making the npm package"
  VERBATIM)
add_custom_target(tacit_wasm_package ALL DEPENDS "${TACIT_WASM_PACKAGE}/package.json")
