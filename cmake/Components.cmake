# The four libraries: their rooms (src/README.md) and the packages that they need.
#
#   treesample        everything for models of tables and functions; fmt, and Eigen and JSON to build it
#   treesample-formulas  exact counts of formulas as integers of any size; GMP, and CaDiCaL to build it
#   treesample-calls  factors that cost: programs, journals, workers on other machines, surrogates
#   treesample-train  networks and their training; Highway, to build it
#
# The last three register what they add to `infer` before main() begins. A static link would drop the file that does it,
# so their targets ask the linker for a symbol of that file.
set(core_packages fmt)
set(formulas_rooms formula)
set(formulas_packages gmp)
set(formulas_symbol treesample_formulas_is_linked)
set(calls_rooms surrogate monotone blackbox remote oracle program calls)
set(calls_packages sqlite3 hiredis libcrypto cpp-httplib)
set(calls_symbol treesample_calls_is_linked)
set(train_rooms nn train)
set(train_packages)
set(train_symbol treesample_train_is_linked)
# One has options of a package of its own, the other includes itself, once for each kind of processor.
set(compiled_alone "(umbridge_oracle|kernels)[.]cpp$")

find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)

# What all of them have in common. Packages that are needed to build a library alone are private: programs that link it
# do not see them.
function(add_component target)
  add_library(${target} ${ARGN})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:include>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE fmt::fmt Threads::Threads
                                          $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
                                          $<BUILD_INTERFACE:Eigen3::Eigen> $<BUILD_INTERFACE:treesample_options>)
  # Files of more than 2 GiB on machines of 32 bits.
  target_compile_definitions(${target} PRIVATE TREESAMPLE_VERSION="${PROJECT_VERSION}" _FILE_OFFSET_BITS=64)
  # Before 1.0, minor versions may differ in their binary interface. The static library is position-independent too, so
  # that it can become part of a shared object such as the Python module. Functions may still be inlined into each other.
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                             POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  if(BUILD_SHARED_LIBS)
    target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/symbols.map)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/symbols.map)
  endif()
endfunction()

# The sources of these rooms.
function(sources_of rooms result)
  set(sources)
  foreach(room ${rooms})
    file(GLOB_RECURSE more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(add_add_on name)
  sources_of("${${name}_rooms}" sources)
  set(alone ${sources})
  list(FILTER alone INCLUDE REGEX ${compiled_alone})
  list(FILTER sources EXCLUDE REGEX ${compiled_alone})
  set(${name}_sources ${sources})
  compile_together(${name}_sources)
  set(sources ${${name}_sources} ${alone})
  add_component(treesample_${name} ${sources})
  add_library(treesample::${name} ALIAS treesample_${name})
  set_target_properties(treesample_${name} PROPERTIES OUTPUT_NAME treesample-${name} EXPORT_NAME ${name})
  target_link_options(treesample_${name} INTERFACE LINKER:--undefined=${${name}_symbol})
endfunction()

include(Page)
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS src/*.cpp)
sources_of("${formulas_rooms};${calls_rooms};${train_rooms}" other_sources)
list(REMOVE_ITEM core_sources ${other_sources})
# Rooms that run once for each question: small code, not fast loops.
sources_of("infer;io;page" sources_that_run_once)
list(REMOVE_ITEM core_sources ${sources_that_run_once})
compile_together(core_sources)
compile_together(sources_that_run_once)
set_property(SOURCE ${sources_that_run_once} APPEND PROPERTY COMPILE_OPTIONS -Os)
add_component(treesample ${core_sources} ${sources_that_run_once} ${page_source})
add_library(treesample::treesample ALIAS treesample)
if(TREESAMPLE_CHECKED)
  target_compile_definitions(treesample PUBLIC TREESAMPLE_CHECKED)
endif()
set(components)

if(TREESAMPLE_FORMULAS)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(gmp REQUIRED IMPORTED_TARGET gmp)
  find_path(cadical_include cadical.hpp REQUIRED)
  find_library(cadical_library NAMES libcadical.a cadical REQUIRED)
  add_add_on(formulas)
  target_include_directories(treesample_formulas SYSTEM PRIVATE ${cadical_include})
  target_link_libraries(treesample_formulas PUBLIC treesample PRIVATE PkgConfig::gmp $<BUILD_INTERFACE:${cadical_library}>)
  list(APPEND components formulas)
endif()
if(TREESAMPLE_CALLS)
  find_package(SQLite3 REQUIRED)
  find_package(PkgConfig REQUIRED)
  find_package(OpenSSL REQUIRED COMPONENTS Crypto)
  pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
  pkg_check_modules(hiredis_ssl QUIET IMPORTED_TARGET hiredis_ssl) # TLS, from hiredis 1.0 on
  pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
  # Its macros apply only to the one source that includes it.
  get_target_property(httplib_options PkgConfig::httplib INTERFACE_COMPILE_OPTIONS)
  set_property(TARGET PkgConfig::httplib PROPERTY INTERFACE_COMPILE_OPTIONS)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/oracle/umbridge_oracle.cpp
                              PROPERTIES COMPILE_OPTIONS "${httplib_options}")
  add_add_on(calls)
  target_link_libraries(treesample_calls PUBLIC treesample PRIVATE SQLite::SQLite3 PkgConfig::hiredis OpenSSL::Crypto
                                                                   PkgConfig::httplib)
  if(TARGET PkgConfig::hiredis_ssl)
    target_link_libraries(treesample_calls PRIVATE PkgConfig::hiredis_ssl)
    target_compile_definitions(treesample_calls PRIVATE TREESAMPLE_HAS_HIREDIS_SSL)
    list(APPEND calls_packages hiredis_ssl)
  endif()
  list(APPEND components calls)
endif()
if(TREESAMPLE_TRAIN)
  find_path(hwy_include hwy/highway.h REQUIRED)  # its headers alone: see nn/kernels.cpp
  add_add_on(train)
  target_include_directories(treesample_train SYSTEM PRIVATE ${hwy_include})
  # It trains on several machines by way of treesample-calls.
  target_link_libraries(treesample_train PUBLIC treesample_calls)
  list(APPEND components train)
endif()
# All of them, for programs of this project.
add_library(treesample_all INTERFACE)
target_link_libraries(treesample_all INTERFACE treesample)
foreach(name ${components})
  target_link_libraries(treesample_all INTERFACE treesample_${name})
endforeach()
