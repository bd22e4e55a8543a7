# Everything comes from the distribution's packages (src/cmake/packages.txt); nothing is downloaded here.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
find_path(SQLITE3_INCLUDE_DIR sqlite3.h REQUIRED)
find_library(SQLITE3_STATIC_LIBRARY libsqlite3.a REQUIRED)

# Static, so that one binary runs on machines whose SQLite is older or absent.
add_library(deepjit_sqlite INTERFACE)
add_library(deepjit::sqlite ALIAS deepjit_sqlite)
target_include_directories(deepjit_sqlite SYSTEM INTERFACE "${SQLITE3_INCLUDE_DIR}")
target_link_libraries(deepjit_sqlite INTERFACE "${SQLITE3_STATIC_LIBRARY}" m Threads::Threads ${CMAKE_DL_LIBS})

include(FindCudaHeaders)
