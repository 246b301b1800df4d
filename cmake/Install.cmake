# `cmake --install build` gives the program, the library, its headers and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS treesample treesample_options EXPORT treesample_targets)
install(TARGETS treesample_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/treesample DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/treesample)
install(EXPORT treesample_targets NAMESPACE treesample:: DESTINATION ${package_dir})
configure_package_config_file(cmake/treesample-config.cmake.in treesample-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(treesample-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/treesample-config.cmake ${CMAKE_BINARY_DIR}/treesample-config-version.cmake
        DESTINATION ${package_dir})
