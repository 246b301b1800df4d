# The page of answers: web/ as one text, compiled into the library. Sets page_source.
set(page_folder ${CMAKE_CURRENT_SOURCE_DIR}/web)
# In the order in which they are read; each file uses only what comes before it.
set(page_scripts elements numbers export bars chart table circuit live model layered_layout stress_layout graph_boxes
                 graph_picture graph_section tree_section marginals_section question_section answer_sections
                 result_sections answer_page report_page journal_page page)
set(page_files page.html page.css parts.css)
foreach(script ${page_scripts})
  list(APPEND page_files ${script}.js)
endforeach()
list(TRANSFORM page_files PREPEND ${page_folder}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_files})

file(READ ${page_folder}/page.html page_text)
file(READ ${page_folder}/page.css page_style)
file(READ ${page_folder}/parts.css page_parts_style)
string(APPEND page_style "${page_parts_style}")
set(page_script)
foreach(script ${page_scripts})
  file(READ ${page_folder}/${script}.js text)
  string(APPEND page_script "${text}")
endforeach()
string(REPLACE "{{style}}" "${page_style}" page_text "${page_text}")
string(REPLACE "{{script}}" "${page_script}" page_text "${page_text}")
set(page_source ${CMAKE_CURRENT_BINARY_DIR}/page_template.cpp)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/src/page/page_template.cpp.in ${page_source} @ONLY)
