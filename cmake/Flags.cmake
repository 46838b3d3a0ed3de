# Compile and link flags, as an interface target so that nothing leaks to users of the library.
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(CMAKE_C_COMPILER_TARGET MATCHES "^wasm32")
  set(TACIT_WASM ON) # one module, with a stack that no address leads to: what hardens ELF is not there
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  check_pie_supported(LANGUAGES C)
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
# Assertions stay in: what is tested is what is shipped.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g")
if(TACIT_WASM) # it is downloaded before it runs; not for the linker, where clang would call wasm-opt if it is there
  set(CMAKE_C_FLAGS_RELEASE "")
  add_compile_options(-Oz)
endif()
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

add_library(tacit_warnings INTERFACE)
target_compile_options(
  tacit_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wdouble-promotion
            -Wstrict-prototypes
            -Wmissing-prototypes
            -Wmissing-declarations
            -Wold-style-definition
            -Wredundant-decls
            -Wnested-externs
            -Wvla
            -Walloca
            -Wformat=2
            -Wcast-qual
            -Wcast-align
            -Wpointer-arith
            -Wwrite-strings
            -Wundef
            -Wimplicit-fallthrough
            $<$<C_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<C_COMPILER_ID:GNU>:-Wduplicated-cond>
            $<$<C_COMPILER_ID:GNU>:-Wtrampolines>
            $<$<C_COMPILER_ID:GNU>:-Wjump-misses-init>
            $<$<C_COMPILER_ID:Clang>:-Wcomma>
            $<$<C_COMPILER_ID:Clang>:-Wassign-enum>
            $<$<C_COMPILER_ID:Clang>:-Wno-gnu-zero-variadic-macro-arguments>)
if(TACIT_WERROR)
  target_compile_options(tacit_warnings INTERFACE -Werror)
endif()

add_library(tacit_flags INTERFACE)
target_link_libraries(tacit_flags INTERFACE tacit_warnings)
target_compile_definitions(tacit_flags INTERFACE _GNU_SOURCE)
# Never -ffast-math, and no fused multiply-add behind our back: results are the same bit for bit.
target_compile_options(tacit_flags INTERFACE -ffp-contract=off -fno-common)
if(TACIT_WASM)
  return()
endif()
target_compile_options(tacit_flags INTERFACE -fstack-protector-strong)
set(CMAKE_REQUIRED_FLAGS -Werror) # clang says of some processors that it does not use it
check_c_compiler_flag(-fstack-clash-protection TACIT_HAS_STACK_CLASH_PROTECTION)
unset(CMAKE_REQUIRED_FLAGS)
if(TACIT_HAS_STACK_CLASH_PROTECTION)
  target_compile_options(tacit_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fstack-clash-protection>)
endif()
target_link_options(tacit_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed)

if(TACIT_FUZZ AND CMAKE_C_COMPILER_ID MATCHES "Clang")
  # Coverage feedback everywhere; the engine itself is linked into the fuzz targets only.
  target_compile_options(tacit_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(tacit_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TACIT_SANITIZE)
  target_compile_options(tacit_flags INTERFACE -fsanitize=${TACIT_SANITIZE}
                                               -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tacit_flags INTERFACE -fsanitize=${TACIT_SANITIZE})
elseif(TACIT_COVERAGE)
  target_compile_options(tacit_flags INTERFACE --coverage -fprofile-update=atomic -O0)
  target_link_options(tacit_flags INTERFACE --coverage)
else()
  target_compile_options(tacit_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(tacit_flags INTERFACE -Wl,-z,defs)
endif()
