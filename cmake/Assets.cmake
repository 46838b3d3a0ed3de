# Files of web/ become arrays in the library. Ours are in the repository; uPlot is in web/node_modules, where
# scripts/setup puts what web/package-lock.json names. Where it is not, its arrays are empty and reports have
# drawings only. Nothing is downloaded here.
set(web "${PROJECT_SOURCE_DIR}/web")
set(uplot "${web}/node_modules/uplot")

# Looked for again at every build, so that they are found once they are there.
file(GLOB fetched CONFIGURE_DEPENDS "${uplot}/dist/uPlot.min.css" "${uplot}/dist/uPlot.iife.min.js"
     "${uplot}/LICENSE")
list(LENGTH fetched n_fetched)
if(n_fetched EQUAL 3)
  set(plots plots_css "${uplot}/dist/uPlot.min.css" plots_js "${uplot}/dist/uPlot.iife.min.js"
            plots_license "${uplot}/LICENSE")
else()
  set(fetched)
  set(plots plots_css none plots_js none plots_license none)
  message(STATUS "uPlot not found (scripts/setup --for plots fetches it): reports have drawings only")
endif()

set(ours report_css "${web}/report.css" report_js "${web}/report.js" drawing_js "${web}/drawing.js")
if(TACIT_HAS_SERVER)
  list(APPEND ours live_html "${web}/live.html" live_css "${web}/live.css" live_js "${web}/live.js")
endif()
set(sources ${ours})
list(FILTER sources INCLUDE REGEX "/")

set(assets_c "${TACIT_GENERATED_DIR}/base/assets.c")
add_custom_command(
  OUTPUT "${assets_c}"
  COMMAND "${CMAKE_COMMAND}" "-DOUT=${assets_c}"
          "-DFILES=${ours};${plots}" -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS ${sources} ${fetched} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  COMMENT "Embedding web/"
  VERBATIM)
target_sources(tacit_objects PRIVATE "${assets_c}")
