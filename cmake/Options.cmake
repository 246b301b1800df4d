# Compiler settings shared by every target of the project.
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  find_program(ccache_program ccache)
  if(ccache_program)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_program})
    set(treesample_has_no_cache OFF)
  else()
    set(treesample_has_no_cache ON)
  endif()
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(treesample_options INTERFACE)
target_compile_options(treesample_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                    -Wno-missing-field-initializers)
# g++ 12 warns that empty std::optional and std::function members of aggregates are uninitialised. They are not.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(treesample_options INTERFACE -Wno-maybe-uninitialized)
endif()
# -ffp-contract=off gives the same bits whether or not the machine has fused multiply-add. The other two change no
# result; without them conditionals over doubles do not vectorise and sqrt is a call.
target_compile_options(treesample_options INTERFACE -ffp-contract=off -fno-trapping-math -fno-math-errno)
# With -O1 -g1, reports have names and lines, and the build takes a third of the time of -O2 -g.
if(TREESAMPLE_SANITIZE)
  target_compile_options(treesample_options INTERFACE -O1 -g1 -fsanitize=${TREESAMPLE_SANITIZE}
                                                      -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(treesample_options INTERFACE -fsanitize=${TREESAMPLE_SANITIZE})
endif()
