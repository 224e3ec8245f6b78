# Compiles several files of a folder in one go: a header that they share, such as Eigen, is then parsed once, and a
# template instantiated once.
#
# rehmc_unity(TARGET) groups the sources of the target, with REHMC_UNITY alone. Files of different folders are never in
# one group, so names that a file declares for itself need to be unique only within its folder. Files with compile
# options of their own are compiled alone.
set(REHMC_UNITY_SIZE 8)  # files; more save little, and let a core wait for the last group
function(rehmc_unity target)
  if(NOT REHMC_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_target_property(target_folder ${target} SOURCE_DIR)
  foreach(source ${sources})
    get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(options)
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${target_folder} NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND files_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    # Groups of equal size: 9 files are 5 and 4, not 8 and 1.
    list(LENGTH files_of_${folder} count)
    math(EXPR groups "(${count} + ${REHMC_UNITY_SIZE} - 1) / ${REHMC_UNITY_SIZE}")
    set(index 0)
    foreach(file ${files_of_${folder}})
      math(EXPR group "${index} * ${groups} / ${count}")
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
      cmake_path(GET name PARENT_PATH name)
      string(MAKE_C_IDENTIFIER "${name}_${group}" name)
      set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${name})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()
