# deepjit::cuda_headers: include folders with cuda.h, cupti.h, nvrtc.h and nvtx3.
#
# Headers only: libcuda, CUPTI, NVRTC and NVML are opened at run time. A CUDA Toolkit is used where there is
# one. The folder of NVIDIA's wheels (DEEPJIT_CUDA_WHEELS) comes first because src/cmake/setup fills it only
# where the toolkit is absent, too old, or to be ignored.
set(DEEPJIT_CUDA_WHEELS "${PROJECT_SOURCE_DIR}/build/cuda-wheels" CACHE PATH "CUDA headers and libraries from wheels")

set(roots "${DEEPJIT_CUDA_WHEELS}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda)
list(REMOVE_ITEM roots "")
foreach(root IN LISTS roots)
  list(APPEND include_hints "${root}/include" "${root}/targets/x86_64-linux/include" "${root}/extras/CUPTI/include")
endforeach()

# A program looks for the libraries in ../cuda-wheels; builds in other folders share the one copy.
if(EXISTS "${DEEPJIT_CUDA_WHEELS}/complete" AND NOT EXISTS "${PROJECT_BINARY_DIR}/cuda-wheels")
  file(CREATE_LINK "${DEEPJIT_CUDA_WHEELS}" "${PROJECT_BINARY_DIR}/cuda-wheels" SYMBOLIC)
endif()

find_path(CUDA_HEADER_DIR cuda.h HINTS ${include_hints})
find_path(CUPTI_HEADER_DIR cupti.h HINTS ${include_hints})
find_path(NVRTC_HEADER_DIR nvrtc.h HINTS ${include_hints})
foreach(header CUDA CUPTI NVRTC)
  if(NOT ${header}_HEADER_DIR)
    message(FATAL_ERROR "No ${header} headers found. Install a CUDA Toolkit 13, or run `make setup`, "
                        "which takes the headers from NVIDIA's wheels.")
  endif()
endforeach()

add_library(deepjit_cuda_headers INTERFACE)
add_library(deepjit::cuda_headers ALIAS deepjit_cuda_headers)
target_include_directories(deepjit_cuda_headers SYSTEM INTERFACE
  "${CUDA_HEADER_DIR}" "${CUPTI_HEADER_DIR}" "${NVRTC_HEADER_DIR}")
