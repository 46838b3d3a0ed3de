# tacit-mpi.so, the transport over MPI: a module of its own that the command loads when it is one of
# several processes. Without OpenMPI it is not built, and nothing else changes.
option(TACIT_MPI "Build the MPI module where OpenMPI is found" ON)
if(TACIT_MPI)
  pkg_check_modules(OMPI IMPORTED_TARGET ompi-c)
endif()
if(OMPI_FOUND)
  add_library(tacit_mpi MODULE "${PROJECT_SOURCE_DIR}/src/lab/runs/mpi.c")
  target_include_directories(tacit_mpi PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(tacit_mpi PRIVATE tacit_flags PkgConfig::OMPI)
  set_target_properties(tacit_mpi PROPERTIES PREFIX "" OUTPUT_NAME tacit-mpi C_VISIBILITY_PRESET hidden
                                             LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  install(TARGETS tacit_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tacit")
else()
  message(STATUS "OpenMPI not found: experiments run on one machine")
endif()
