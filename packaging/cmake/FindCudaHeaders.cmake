# SPDX-License-Identifier: Apache-2.0
# Where cuda.h is: in the Python environment SWAGE_VENV (PyTorch's dependencies bring it), else in a toolkit. Only the
# header is needed; the driver's library is opened when the program runs.
#
# Variables: CudaHeaders_FOUND, CudaHeaders_INCLUDE_DIR.
file(GLOB _cuda_candidates LIST_DIRECTORIES true
  "${SWAGE_VENV}/lib/python3*/site-packages/nvidia/cu*/include"
  "${SWAGE_VENV}/lib/python3*/site-packages/nvidia/cuda_runtime/include")
find_path(CudaHeaders_INCLUDE_DIR cuda.h
  HINTS ${_cuda_candidates} ENV CUDA_HOME
  PATHS /usr/local/cuda /opt/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include)
mark_as_advanced(CudaHeaders_INCLUDE_DIR)
unset(_cuda_candidates)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders REQUIRED_VARS CudaHeaders_INCLUDE_DIR)
