# Language level, warnings and sanitizers, shared by every room.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# CMake's own default is -O3, which costs a tenth more compile time and gains nothing here: the hot code is on the
# GPU and in SQLite.
if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "" FORCE)
endif()

# For code that runs once a process, where the optimizer is most of the compile time: the command line with CLI11,
# which is header-only, and tests.
add_library(deepjit_compile_fast INTERFACE)
target_compile_options(deepjit_compile_fast INTERFACE $<$<CONFIG:Release>:-O1>)

find_program(DEEPJIT_CCACHE ccache)
if(DEEPJIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${DEEPJIT_CCACHE}")
endif()

add_library(deepjit_warnings INTERFACE)
target_compile_options(deepjit_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
# GCC 12 at -O2 sees an overlapping copy in every std::string::insert (GCC bug 105651) and copies out of bounds where
# strings in an initializer list are added.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(deepjit_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
# In a batch a source file looks like a header, where an unnamed namespace inside a class would be a mistake.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(deepjit_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(DEEPJIT_WERROR)
  target_compile_options(deepjit_warnings INTERFACE -Werror)
endif()

add_library(deepjit_sanitizers INTERFACE)
if(DEEPJIT_SANITIZE)
  target_compile_options(deepjit_sanitizers INTERFACE -fsanitize=${DEEPJIT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(deepjit_sanitizers INTERFACE -fsanitize=${DEEPJIT_SANITIZE})
endif()
