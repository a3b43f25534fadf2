# pumice_test_shaders(TARGET FILE...): compiles GLSL shaders (*.comp, *.vert, *.frag) at build time into
# headers that define `name` as an array of words, for tests: #include "test_shaders/name.h". The name is the file's.
# Vulkan 1.3, no optimisation.
find_program(PUMICE_GLSLANG glslangValidator)

function(pumice_test_shaders target)
  if(NOT PUMICE_GLSLANG)
    message(FATAL_ERROR "the tests need glslangValidator (package glslang-tools)")
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/generated/test_shaders)
  file(MAKE_DIRECTORY ${dir})
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME_WE)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set(header ${dir}/${name}.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${PUMICE_GLSLANG} --quiet -V --target-env vulkan1.3 --vn ${name} -o ${header} ${source}
      DEPENDS ${source}
      VERBATIM)
    target_sources(${target} PRIVATE ${header})
  endforeach()
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
