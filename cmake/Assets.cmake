# Files of web/ become arrays in the library. Nothing is downloaded here.
set(web "${PROJECT_SOURCE_DIR}/web")

set(ours report_css "${web}/report.css" report_js "${web}/report.js" drawing_js "${web}/drawing.js")
if(TACIT_HAS_SERVER)
  list(APPEND ours live_html "${web}/live.html" live_css "${web}/live.css" live_js "${web}/live.js")
  set(demo "${PROJECT_SOURCE_DIR}/examples/web")
  list(APPEND ours demo_html "${demo}/demo.html" demo_css "${demo}/demo.css" demo_js "${demo}/demo.js"
       demo_tastes_js "${demo}/tastes.js" demo_crowd_js "${demo}/crowd.js" client_js "${web}/client/client.js"
       client_core_js "${web}/client/core.js" client_storage_js "${web}/client/storage.js")
  # What `make wasm` has made, if it has.
  file(GLOB wasm CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/build/wasm/tacit-client.wasm")
  if(wasm)
    list(APPEND ours client_wasm "${wasm}")
  else()
    list(APPEND ours client_wasm none)
  endif()
endif()
set(sources ${ours})
list(FILTER sources INCLUDE REGEX "/")

set(assets_c "${TACIT_GENERATED_DIR}/base/assets.c")
add_custom_command(
  OUTPUT "${assets_c}"
  COMMAND "${CMAKE_COMMAND}" "-DOUT=${assets_c}"
          "-DFILES=${ours}" -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS ${sources} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  COMMENT "Embedding web/"
  VERBATIM)
target_sources(tacit_objects PRIVATE "${assets_c}")
