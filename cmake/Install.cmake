# Headers, the libraries, the command, pkg-config and CMake package files, man pages, completion.
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tacit" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")

# Export sets of their own: a shared library needs nothing else to link, a static one needs its own
# dependencies, and the package offers it only where they are found.
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tacit")
foreach(kind IN ITEMS shared static client_shared client_static)
  install(TARGETS tacit_${kind} EXPORT tacit-${kind}
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT tacit-${kind} NAMESPACE tacit:: DESTINATION "${package_dir}")
endforeach()
if(TARGET tacit_command)
  install(TARGETS tacit_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file(cmake/tacit-config.cmake.in "${PROJECT_BINARY_DIR}/tacit-config.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tacit-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tacit-config.cmake"
              "${PROJECT_BINARY_DIR}/tacit-config-version.cmake" DESTINATION "${package_dir}")

# What a static library needs, by name. Not as requirements: those would add their include paths to everybody's
# flags, though no public header needs them.
set(libraries)
foreach(package IN ITEMS YAML SQLITE LAPACKE OPENBLAS SODIUM)
  list(APPEND libraries ${${package}_STATIC_LIBRARIES})
endforeach()
list(REMOVE_ITEM libraries m pthread)
list(REVERSE libraries) # the last of several of a name counts
list(REMOVE_DUPLICATES libraries)
list(REVERSE libraries)
list(TRANSFORM libraries REPLACE "(.+)" "-l\\1 ")
string(CONCAT TACIT_PC_PRIVATE ${libraries})

# The prefix is found from where the file lies, so the tree can be moved.
file(RELATIVE_PATH TACIT_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" TACIT_PC_TO_PREFIX "${TACIT_PC_TO_PREFIX}")
foreach(pc IN ITEMS tacit tacit_client)
  configure_file(cmake/${pc}.pc.in "${PROJECT_BINARY_DIR}/${pc}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

foreach(part IN ITEMS docs examples)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${part}" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endforeach()
if(TACIT_C_REFERENCE)
  install(FILES "${TACIT_C_REFERENCE}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs/reference")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")

file(GLOB man_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.1")
if(man_pages)
  install(FILES ${man_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/completions/tacit.bash"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME tacit)
install(FILES "${PROJECT_SOURCE_DIR}/completions/_tacit"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${PROJECT_SOURCE_DIR}/completions/tacit.fish"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
if(TACIT_HAS_SERVER)
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/tacit.service" DESTINATION lib/systemd/system)
endif()
