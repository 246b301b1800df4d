# `cpack` (make deb): the program, the library with its headers, and the Python module as Debian packages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME treesample)
set(CPACK_PACKAGE_CONTACT "The treesample project <treesample@packages.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "budgeted inference in discrete distributions by tree search")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL program library)
if(TARGET treesample_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME treesample)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS gnuplot-nox)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Answers questions about an unnormalised discrete distribution
within a budget: log Z between certified bounds, marginals, the
most probable configuration, samples.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtreesample-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libfmt-dev)
# Of treesample-calls and treesample-formulas: apt installs them unless it is told not to (--no-install-recommends).
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libsqlite3-dev, libhiredis-dev, libssl-dev, libcpp-httplib-dev, libgmp-dev, libcadical-dev")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Headers, the static libraries, a CMake package and pkg-config
files of treesample.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-treesample)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3 (<< 3.12), python3-numpy")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Python module of treesample: models with names, answers with
certified bounds.")

# The files that every Debian package has, in a folder named after the package.
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/changelog
     "treesample (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n"
     " -- ${CPACK_PACKAGE_CONTACT}  ${package_date}\n")
execute_process(COMMAND gzip -9nf ${CMAKE_CURRENT_BINARY_DIR}/changelog)
foreach(part program library python)
  string(TOUPPER ${part} upper)
  set(documents share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian_copyright DESTINATION ${documents} RENAME copyright COMPONENT ${part}
          EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz DESTINATION ${documents} COMPONENT ${part} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
