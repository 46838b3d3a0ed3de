# libsodium from its sources, for WebAssembly, where no package has it: the portable form of the primitives that src/noise
# uses, and nothing else. scripts/sodium-source puts Debian's source package where TACIT_SODIUM_SOURCE says; nothing of it
# is in the repository.
set(TACIT_SODIUM_SOURCE "" CACHE PATH "libsodium's source tree; empty: the system's library")

set(sodium "${TACIT_SODIUM_SOURCE}/src/libsodium")
if(NOT EXISTS "${sodium}/sodium/utils.c")
  message(FATAL_ERROR "TACIT_SODIUM_SOURCE is '${TACIT_SODIUM_SOURCE}', expected libsodium's sources; make wasm fetches them")
endif()

# What configure would have written.
set(VERSION 1.0.18)
set(SODIUM_LIBRARY_VERSION_MAJOR 10)
set(SODIUM_LIBRARY_VERSION_MINOR 3)
set(SODIUM_LIBRARY_MINIMAL_DEF "")
configure_file("${sodium}/include/sodium/version.h.in" "${TACIT_GENERATED_DIR}/sodium/version.h" @ONLY)

set(parts
    crypto_core/hsalsa20/core_hsalsa20.c
    crypto_core/hsalsa20/ref2/core_hsalsa20_ref2.c
    crypto_core/salsa/ref/core_salsa_ref.c
    crypto_generichash/blake2b/generichash_blake2.c
    crypto_generichash/blake2b/ref/blake2b-compress-ref.c
    crypto_generichash/blake2b/ref/blake2b-ref.c
    crypto_generichash/blake2b/ref/generichash_blake2b.c
    crypto_generichash/crypto_generichash.c
    crypto_onetimeauth/poly1305/donna/poly1305_donna.c
    crypto_onetimeauth/poly1305/onetimeauth_poly1305.c
    crypto_secretbox/crypto_secretbox_easy.c
    crypto_shorthash/crypto_shorthash.c
    crypto_shorthash/siphash24/ref/shorthash_siphash24_ref.c
    crypto_shorthash/siphash24/ref/shorthash_siphashx24_ref.c
    crypto_stream/chacha20/ref/chacha20_ref.c
    crypto_stream/chacha20/stream_chacha20.c
    crypto_stream/salsa20/ref/salsa20_ref.c
    crypto_stream/salsa20/stream_salsa20.c
    crypto_stream/xsalsa20/stream_xsalsa20.c
    crypto_verify/sodium/verify.c
    sodium/codecs.c
    sodium/utils.c)
list(TRANSFORM parts PREPEND "${sodium}/")

add_library(tacit_sodium STATIC ${parts})
target_include_directories(
  tacit_sodium SYSTEM PUBLIC "${sodium}/include" "${TACIT_GENERATED_DIR}"
  PRIVATE "${sodium}/include/sodium" "${TACIT_GENERATED_DIR}/sodium")
target_compile_definitions(tacit_sodium PRIVATE CONFIGURED=1 NATIVE_LITTLE_ENDIAN=1 HAVE_WEAK_SYMBOLS=1 _GNU_SOURCE
                                                _WASI_EMULATED_SIGNAL _WASI_EMULATED_MMAN)
target_compile_options(tacit_sodium PRIVATE -std=gnu11 -w -ffunction-sections -fdata-sections -fno-strict-aliasing -fwrapv)
