# deepjit_room(NAME [LINKS target...] [PRIVATE_LINKS target...])
#
# One static library `deepjit_NAME`, alias `deepjit::NAME`, from the .cpp files of the current folder.
# LINKS must equal the room's row in ARCHITECTURE.md; tests/tools/check_layers compares both, and the includes.
function(deepjit_room name)
  cmake_parse_arguments(ROOM "" "" "LINKS;PRIVATE_LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    add_library(deepjit_${name} INTERFACE)
    add_library(deepjit::${name} ALIAS deepjit_${name})
    target_include_directories(deepjit_${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(deepjit_${name} INTERFACE ${ROOM_LINKS})
    return()
  endif()
  add_library(deepjit_${name} STATIC ${sources})
  add_library(deepjit::${name} ALIAS deepjit_${name})
  target_include_directories(deepjit_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(deepjit_${name}
    PUBLIC ${ROOM_LINKS} deepjit_sanitizers
    PRIVATE ${ROOM_PRIVATE_LINKS} deepjit_warnings)
  deepjit_precompile(deepjit_${name} rooms)
endfunction()

# deepjit_precompile(TARGET rooms|tests)
#
# Parses the headers that nearly every file includes once rather than in each, where the preset asks for it. Targets
# that share a precompiled header must share their compile options: those of one kind do.
function(deepjit_precompile target kind)
  if(NOT DEEPJIT_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET deepjit_precompiled_${kind})
    set(headers <algorithm> <cstdint> <filesystem> <map> <optional> <string> <vector> <fmt/format.h>)
    # What owns the header is of the kind that uses it, so that both are position independent in the same way.
    set(source "${PROJECT_BINARY_DIR}/precompiled_${kind}.cpp")
    if(kind STREQUAL "tests")
      file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
      add_executable(deepjit_precompiled_tests "${source}")
      target_link_libraries(deepjit_precompiled_tests PRIVATE deepjit_compile_fast GTest::gmock)
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    else()
      file(CONFIGURE OUTPUT "${source}" CONTENT "")
      add_library(deepjit_precompiled_rooms OBJECT "${source}")
    endif()
    target_link_libraries(deepjit_precompiled_${kind} PRIVATE deepjit::fmt deepjit_sanitizers deepjit_warnings)
    target_precompile_headers(deepjit_precompiled_${kind} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM deepjit_precompiled_${kind})
endfunction()

# deepjit_unit_test(ROOM [LINKS target...])
#
# One GoogleTest program `ROOM_test` from the *_test.cpp files of the current folder.
function(deepjit_unit_test room)
  cmake_parse_arguments(TEST "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${room}_test ${sources})
  set_target_properties(${room}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_link_libraries(${room}_test PRIVATE deepjit::${room} ${TEST_LINKS} deepjit_warnings deepjit_compile_fast
    GTest::gmock GTest::gtest_main)
  target_compile_definitions(${room}_test PRIVATE DEEPJIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  deepjit_precompile(${room}_test tests)
  gtest_discover_tests(${room}_test DISCOVERY_MODE PRE_TEST)
endfunction()
