# Everything comes from the distribution's packages (src/cmake/packages.txt); nothing is downloaded here.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(SQLITE3_INCLUDE_DIR sqlite3.h REQUIRED)
find_library(SQLITE3_STATIC_LIBRARY libsqlite3.a REQUIRED)
find_library(XXHASH_STATIC_LIBRARY libxxhash.a REQUIRED)
find_library(ZLIB_STATIC_LIBRARY libz.a REQUIRED)
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_STATIC_LIBRARY libzstd.a REQUIRED)

# All static (fmt: compiled in src/base/fmt_library.cpp): one binary then runs on machines whose copies are older or absent.
add_library(deepjit_fmt INTERFACE)
add_library(deepjit::fmt ALIAS deepjit_fmt)
get_target_property(fmt_includes fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(deepjit_fmt SYSTEM INTERFACE ${fmt_includes})

add_library(deepjit_xxhash INTERFACE)
add_library(deepjit::xxhash ALIAS deepjit_xxhash)
target_include_directories(deepjit_xxhash SYSTEM INTERFACE "${XXHASH_INCLUDE_DIR}")
target_link_libraries(deepjit_xxhash INTERFACE "${XXHASH_STATIC_LIBRARY}")

add_library(deepjit_zlib INTERFACE)
add_library(deepjit::zlib ALIAS deepjit_zlib)
target_include_directories(deepjit_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
target_link_libraries(deepjit_zlib INTERFACE "${ZLIB_STATIC_LIBRARY}")

add_library(deepjit_zstd INTERFACE)
add_library(deepjit::zstd ALIAS deepjit_zstd)
target_include_directories(deepjit_zstd SYSTEM INTERFACE "${ZSTD_INCLUDE_DIR}")
target_link_libraries(deepjit_zstd INTERFACE "${ZSTD_STATIC_LIBRARY}")

add_library(deepjit_sqlite INTERFACE)
add_library(deepjit::sqlite ALIAS deepjit_sqlite)
target_include_directories(deepjit_sqlite SYSTEM INTERFACE "${SQLITE3_INCLUDE_DIR}")
target_link_libraries(deepjit_sqlite INTERFACE "${SQLITE3_STATIC_LIBRARY}" m Threads::Threads ${CMAKE_DL_LIBS})

include(FindCudaHeaders)
