# Writes OUT, a header with the commit of SOURCE, if the commit has changed. "-changed" marks files that differ from it.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=-changed
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  set(commit "unknown")
endif()
set(text "#pragma once\n\nnamespace treesample::experiments {\ninline constexpr const char* kCommitText = \"${commit}\";\n}  // namespace treesample::experiments\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUT} "${text}")
endif()
