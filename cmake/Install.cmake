# `cmake --install build` installs the program, the library with its headers, a CMake package and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Packages that a program must link in addition to the static library. The shared library brings its own.
set(pkg_config_requires fmt ${component_packages})
list(JOIN pkg_config_requires " " pkg_config_requires)
if(BUILD_SHARED_LIBS)
  set(pkg_config_requires_field Requires.private)
else()
  set(pkg_config_requires_field Requires)
endif()
# These paths are relative, so that an installed tree can be moved and `--prefix` may differ from the one at
# configuration.
file(RELATIVE_PATH prefix_of_pkg_config ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH libraries_of_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
configure_file(cmake/treesample.pc.in treesample.pc @ONLY)

install(TARGETS treesample EXPORT treesample_targets COMPONENT library)
if(TARGET treesample_cli)
  set_target_properties(treesample_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_of_program}")
  install(FILES ${PROJECT_BINARY_DIR}/treesample.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${PROJECT_BINARY_DIR}/treesample.bash DESTINATION share/bash-completion/completions RENAME treesample
          COMPONENT program)
  install(TARGETS treesample_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
install(DIRECTORY include/treesample DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/treesample.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/treesample)
install(EXPORT treesample_targets NAMESPACE treesample:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(cmake/treesample-config.cmake.in treesample-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(treesample-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/treesample-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/treesample-config-version.cmake
        DESTINATION ${package_dir} COMPONENT library)
