# Compiles hot loops that name the registers of the machine for several sets of vector instructions.
#
# rehmc_instructions(TARGET HEADER ...) compiles each header in namespaces of its own, baseline, avx2 and avx512; on
# other processors than x86-64 baseline alone. REHMC_INSTRUCTIONS is the namespace, REHMC_REGISTER_WIDTH how many doubles
# a register holds, and REHMC_ALL_INSTRUCTIONS says to the sources of the target that all three are there. Plain loops
# need none of this, but hot_loop() of core/instructions.hpp.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(REHMC_INSTRUCTIONS baseline avx2 avx512)
else()
  set(REHMC_INSTRUCTIONS baseline)
endif()
set(REHMC_WIDTH_baseline 2)
set(REHMC_WIDTH_avx2 4)
set(REHMC_WIDTH_avx512 8)
# Optimised in every build: inline functions that others share would else be compiled here, and the linker might keep these.
set(REHMC_OPTIONS_baseline -O3)
set(REHMC_OPTIONS_avx2 -O3 -mavx2)
set(REHMC_OPTIONS_avx512 -O3 -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)

function(rehmc_instructions target)
  foreach(header ${ARGN})
    cmake_path(GET header STEM name)
    foreach(instructions ${REHMC_INSTRUCTIONS})
      set(source ${PROJECT_BINARY_DIR}/instructions/${name}_${instructions}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${PROJECT_SOURCE_DIR}/${header}\"\n")
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
        COMPILE_OPTIONS "${REHMC_OPTIONS_${instructions}}"
        COMPILE_DEFINITIONS "REHMC_INSTRUCTIONS=${instructions};REHMC_REGISTER_WIDTH=${REHMC_WIDTH_${instructions}}")
      target_sources(${target} PRIVATE ${source})
    endforeach()
  endforeach()
  list(LENGTH REHMC_INSTRUCTIONS count)
  if(count GREATER 1)
    target_compile_definitions(${target} PRIVATE REHMC_ALL_INSTRUCTIONS)
  endif()
endfunction()
