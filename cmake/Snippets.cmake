# Builds and runs every ```cpp block of the documents it is given, so that none of them can go stale.
function(rehmc_add_snippets)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/snippets)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${ARGN} ${PROJECT_SOURCE_DIR}/scripts/extract_snippets)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/extract_snippets
                          ${folder} ${ARGN}
                  OUTPUT_VARIABLE snippets OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" snippets "${snippets}")
  foreach(snippet ${snippets})
    add_executable(snippet_${snippet} ${folder}/${snippet}.cpp)
    target_link_libraries(snippet_${snippet} PRIVATE rehmc::rehmc rehmc_flags)
    add_test(NAME snippet.${snippet} COMMAND snippet_${snippet})
    set_tests_properties(snippet.${snippet} PROPERTIES LABELS snippet TIMEOUT ${REHMC_TEST_TIMEOUT})
  endforeach()
endfunction()
