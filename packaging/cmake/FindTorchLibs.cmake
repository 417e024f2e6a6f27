# SPDX-License-Identifier: Apache-2.0
# libtorch from the Python environment SWAGE_VENV, as imported targets. PyTorch's own find_package(Torch) asks for a CUDA
# toolkit when PyTorch was built with CUDA; the worker needs none, it opens libtorch_cuda.so when it runs on a GPU.
#
# Targets: TorchLibs::torch (libtorch_cpu and libc10, with their headers as system headers).
# Variables: TorchLibs_FOUND, TorchLibs_VERSION, TorchLibs_LIBRARY_DIR, TorchLibs_SITE_PACKAGES.
file(GLOB _torch_candidates LIST_DIRECTORIES true
  "${SWAGE_VENV}/lib/python3*/site-packages/torch" "${SWAGE_VENV}/lib64/python3*/site-packages/torch")
if(SWAGE_VENV AND _torch_candidates)
  list(GET _torch_candidates 0 _torch_root)
endif()
unset(_torch_candidates)

set(TorchLibs_LIBRARY_DIR "${_torch_root}/lib")
foreach(_library IN ITEMS torch_cpu c10)
  if(EXISTS "${TorchLibs_LIBRARY_DIR}/lib${_library}.so")
    set(TorchLibs_${_library}_LIBRARY "${TorchLibs_LIBRARY_DIR}/lib${_library}.so")
  endif()
endforeach()
if(EXISTS "${_torch_root}/version.py")
  file(STRINGS "${_torch_root}/version.py" _version_line REGEX "^__version__")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" TorchLibs_VERSION "${_version_line}")
endif()
get_filename_component(TorchLibs_SITE_PACKAGES "${_torch_root}" DIRECTORY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchLibs
  REQUIRED_VARS TorchLibs_torch_cpu_LIBRARY TorchLibs_c10_LIBRARY TorchLibs_VERSION
  VERSION_VAR TorchLibs_VERSION
  REASON_FAILURE_MESSAGE
    "set SWAGE_VENV to a Python virtual environment that has PyTorch, or configure with -DSWAGE_WITH_WORKER=OFF")

if(TorchLibs_FOUND AND NOT TARGET TorchLibs::torch)
  add_library(TorchLibs::c10 SHARED IMPORTED)
  set_target_properties(TorchLibs::c10 PROPERTIES IMPORTED_LOCATION "${TorchLibs_c10_LIBRARY}")
  add_library(TorchLibs::torch SHARED IMPORTED)
  # Searched last, because PyTorch brings headers of other libraries (fmt) in other versions than the system's.
  # RUNPATH and not RPATH, so that LD_LIBRARY_PATH can point at the libtorch of another machine.
  set_target_properties(TorchLibs::torch PROPERTIES
    IMPORTED_LOCATION "${TorchLibs_torch_cpu_LIBRARY}"
    INTERFACE_COMPILE_OPTIONS
      "SHELL:-idirafter ${_torch_root}/include;SHELL:-idirafter ${_torch_root}/include/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES TorchLibs::c10
    INTERFACE_LINK_OPTIONS "LINKER:--enable-new-dtags;LINKER:--allow-shlib-undefined")
endif()
unset(_torch_root)
