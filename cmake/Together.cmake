# Sources of one folder compiled together, several at a time: headers are then read once for all of them, and the whole
# takes a third of the processor time. A change compiles its whole group again, so where a compiler cache is there, as
# on a developer's machine, each source is compiled by itself. What makes it possible is a rule that
# scripts/check-types checks: in one folder, no two sources give one name to different things.
option(TREESAMPLE_TOGETHER "Compile the sources of a folder together: faster, unless you change them often"
       ${treesample_has_no_cache})

# Replaces the list of sources `list` by a list of groups. A source that is compiled with options of its own, or that
# includes itself, must not be among them.
function(compile_together list)
  if(NOT TREESAMPLE_TOGETHER)
    return()
  endif()
  set(files)
  set(text)
  set(count 0)
  set(folder_of_group)
  foreach(source ${${list}} END)
    cmake_path(GET source PARENT_PATH folder)
    if(text AND (source STREQUAL END OR count EQUAL 8 OR NOT folder STREQUAL folder_of_group))
      list(LENGTH files number)
      set(file ${PROJECT_BINARY_DIR}/together/${list}_${number}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY) # which writes only what changed
      list(APPEND files ${file})
      set(text)
      set(count 0)
    endif()
    string(APPEND text "#include \"${source}\"\n")
    math(EXPR count "${count} + 1")
    set(folder_of_group ${folder})
  endforeach()
  # A source that is included is a header to the compiler, which warns of unnamed namespaces there.
  set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS -Wno-subobject-linkage)
  set(${list} ${files} PARENT_SCOPE)
endfunction()
