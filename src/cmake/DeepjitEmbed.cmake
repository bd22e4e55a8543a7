# deepjit_embed(TARGET FILE SYMBOL)
#
# Compiles a text file into TARGET as `extern const std::string_view SYMBOL` (SYMBOL may be namespaced).
# The file must be shorter than 64 KiB and must not contain the delimiter `)embedded"`.
function(deepjit_embed target file symbol)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE input)
  cmake_path(GET file FILENAME stem)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_${stem}.cpp")
  string(REGEX MATCH "^(.*)::([^:]+)$" _ "${symbol}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -DINPUT=${input} -DOUTPUT=${output}
            -DNAMESPACE=${CMAKE_MATCH_1} -DNAME=${CMAKE_MATCH_2}
            -P "${PROJECT_SOURCE_DIR}/src/cmake/embed_text.cmake"
    DEPENDS "${input}" "${PROJECT_SOURCE_DIR}/src/cmake/embed_text.cmake"
    COMMENT "Embedding ${stem}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
