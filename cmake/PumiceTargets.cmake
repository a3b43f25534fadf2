# Helpers that keep the per-folder CMakeLists short.
#
# A folder is one library: every *.cpp in it, except *_test.cpp, goes in; every *_test.cpp becomes a part of the
# folder's GoogleTest program. CONFIGURE_DEPENDS makes Ninja notice new files.

add_library(pumice_options INTERFACE)
target_compile_options(pumice_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wthread-safety>
  $<$<BOOL:${PUMICE_WERROR}>:-Werror>)
target_include_directories(pumice_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(pumice_options INTERFACE $<$<BOOL:${PUMICE_SEEDED_FAULTS}>:PUMICE_SEEDED_FAULTS>)
if(PUMICE_SANITIZE)
  target_compile_options(pumice_options INTERFACE -fsanitize=${PUMICE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(pumice_options INTERFACE -fsanitize=${PUMICE_SANITIZE})
  if(PUMICE_SANITIZE MATCHES "undefined")
    target_compile_options(pumice_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
find_program(PUMICE_LLD NAMES ld.lld ld.lld-19)
if(PUMICE_LLD)
  target_link_options(pumice_options INTERFACE -fuse-ld=lld)
endif()

# pumice_library(NAME [DEPS target...]): the static library of the current folder.
function(pumice_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;EXTRA_SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(sources OR ARG_EXTRA_SOURCES)
    add_library(${name} STATIC ${sources} ${ARG_EXTRA_SOURCES})
    target_link_libraries(${name} PUBLIC pumice_options ${ARG_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE pumice_options ${ARG_DEPS})
  endif()
endfunction()

# pumice_unit_tests(NAME [DEPS target...] AREA area): one GoogleTest program from the folder's *_test.cpp. Its tests have
# the one label unit.AREA, which `ctest -L unit` and `ctest -L backend` both select: gtest_discover_tests passes its
# properties through lists, so a second label would be taken for a property's name.
function(pumice_unit_tests name)
  cmake_parse_arguments(ARG "" "AREA" "DEPS" ${ARGN})
  if(NOT PUMICE_BUILD_TESTS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  include(GoogleTest)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE pumice_options ${ARG_DEPS} GTest::gtest GTest::gtest_main Threads::Threads)
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit.${ARG_AREA} TIMEOUT ${PUMICE_TEST_TIMEOUT})
endfunction()
