# The decision service, where libmicrohttpd is there, and GnuTLS, which it speaks TLS by; elsewhere src/serve/no_server.c says that it
# is not.
option(TACIT_SERVER "Build the decision service (needs libmicrohttpd and GnuTLS)" ON)
if(TACIT_SERVER AND NOT TACIT_ONLY_CLIENT)
  pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.70 gnutls>=3.6)
  if(NOT MICROHTTPD_FOUND)
    message(STATUS "libmicrohttpd or GnuTLS not found: the decision service is not built")
  endif()
endif()

if(TACIT_SERVER AND MICROHTTPD_FOUND)
  set(TACIT_HAS_SERVER ON)
  set(TACIT_PC_SERVER "-lmicrohttpd -lgnutls ") # not as a requirement: that would ask for all that TLS is made of
  list(REMOVE_ITEM TACIT_SOURCES "${PROJECT_SOURCE_DIR}/src/serve/no_server.c")
  list(APPEND TACIT_LIBRARIES PkgConfig::MICROHTTPD)
else()
  set(TACIT_HAS_SERVER OFF)
  set(TACIT_PC_SERVER)
  list(FILTER TACIT_SOURCES EXCLUDE REGEX "/src/serve/")
  list(APPEND TACIT_SOURCES "${PROJECT_SOURCE_DIR}/src/serve/no_server.c")
endif()
