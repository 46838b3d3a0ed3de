# The command `tacit`. Everything but main.c is an archive too, so that tests and fuzz targets can
# reach the argument parsers.
file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.c")
set(cli_main ${cli_sources})
list(FILTER cli_main INCLUDE REGEX "/main\\.c$")
set(cli_rest ${cli_sources})
list(FILTER cli_rest EXCLUDE REGEX "/main\\.c$")

add_library(tacit_cli INTERFACE)
if(cli_main)
  target_link_libraries(tacit_cli INTERFACE tacit_static m)
  if(cli_rest)
    add_library(tacit_cli_objects STATIC ${cli_rest})
    target_include_directories(tacit_cli_objects PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(tacit_cli_objects PRIVATE tacit_flags tacit_static ${CMAKE_DL_LIBS})
    file(RELATIVE_PATH module "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}/tacit/tacit-mpi.so")
    target_compile_definitions(tacit_cli_objects PRIVATE TACIT_MPI_MODULE="${module}")
    target_link_libraries(tacit_cli INTERFACE tacit_cli_objects)
  endif()

  # All of the library, and its public functions exported: plug-ins (tacit/plugin.h) use them.
  add_executable(tacit_command ${cli_main} $<TARGET_OBJECTS:tacit_client_objects> $<TARGET_OBJECTS:tacit_objects>)
  target_include_directories(tacit_command PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(tacit_command PRIVATE tacit_flags tacit_cli)
  target_link_libraries(tacit_command PRIVATE ${TACIT_LIBRARIES})
  set_target_properties(tacit_command PROPERTIES OUTPUT_NAME tacit ENABLE_EXPORTS ON
                                                 RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endif()
