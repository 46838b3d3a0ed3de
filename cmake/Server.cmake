# The decision service, where libmicrohttpd is there, and GnuTLS, which it speaks TLS by; elsewhere src/serve/absent.c says that it
# is not. The live page, web/live.html, becomes a C array.
option(TACIT_SERVER "Build the decision service (needs libmicrohttpd and GnuTLS)" ON)
if(TACIT_SERVER)
  pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.70 gnutls>=3.6)
  if(NOT MICROHTTPD_FOUND)
    message(STATUS "libmicrohttpd or GnuTLS not found: the decision service is not built")
  endif()
endif()

if(TACIT_SERVER AND MICROHTTPD_FOUND)
  set(TACIT_HAS_SERVER ON)
  set(TACIT_PC_SERVER "-lmicrohttpd -lgnutls ") # not as a requirement: that would ask for all that TLS is made of
  list(REMOVE_ITEM TACIT_SOURCES "${PROJECT_SOURCE_DIR}/src/serve/absent.c")
  list(APPEND TACIT_LIBRARIES PkgConfig::MICROHTTPD)
  set(page "${TACIT_GENERATED_DIR}/serve/page.c")
  add_custom_command(
    OUTPUT "${page}"
    COMMAND "${CMAKE_COMMAND}" -DINPUT=${PROJECT_SOURCE_DIR}/web/live.html -DOUTPUT=${page}
            -DNAME=tacit__live_page -P "${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake"
    DEPENDS "${PROJECT_SOURCE_DIR}/web/live.html" "${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake"
    COMMENT "The live page"
    VERBATIM)
  list(APPEND TACIT_SOURCES "${page}")
else()
  set(TACIT_HAS_SERVER OFF)
  set(TACIT_PC_SERVER)
  list(FILTER TACIT_SOURCES EXCLUDE REGEX "/src/serve/")
  list(APPEND TACIT_SOURCES "${PROJECT_SOURCE_DIR}/src/serve/absent.c")
endif()
