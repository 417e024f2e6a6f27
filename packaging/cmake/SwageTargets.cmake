# SPDX-License-Identifier: Apache-2.0
# How every library, program and test of Swage is declared, so that layering can be checked from one place.

# Adds folders, in order. With SWAGE_MODULES only the listed ones, so that a part can be built alone.
function(swage_add_modules)
  foreach(folder IN LISTS ARGN)
    if(SWAGE_MODULES AND NOT folder IN_LIST SWAGE_MODULES)
      continue()
    endif()
    if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/${folder})
    endif()
  endforeach()
endfunction()

# swage_add_library(name LAYER layer SOURCES … HEADERS … PUBLIC … PRIVATE … [QT])
# Headers are included with their full path from the project root.
function(swage_add_library name)
  cmake_parse_arguments(ARG "QT" "LAYER" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} swage_options)
  swage_describe_target(${name} "${ARG_LAYER}" "${ARG_QT}")
endfunction()

# swage_add_program(name OUTPUT file-name LAYER layer SOURCES … LIBS … [QT])
function(swage_add_program name)
  cmake_parse_arguments(ARG "QT" "LAYER;OUTPUT" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} swage_options)
  if(ARG_OUTPUT)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT})
  endif()
  if(NOT ARG_LAYER STREQUAL "tests")
    swage_find_libraries_beside(${name} "${ARG_QT}")
  endif()
  swage_describe_target(${name} "${ARG_LAYER}" "${ARG_QT}")
endfunction()

# A program finds the libraries that were unpacked with it: in lib/ beside its bin/, wherever that is.
function(swage_find_libraries_beside name qt)
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "$ORIGIN/../lib" INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH ON)
  if(qt)
    # RPATH and not RUNPATH, because it also holds for the libraries that Qt's need.
    target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
  endif()
endfunction()

# The target swage_programs: every program that this configuration has in the given folders. The scripts of packaging/
# build it, so that no list of theirs can lack one (swage-replay is there only with the CUDA headers).
function(swage_add_programs_target)
  add_custom_target(swage_programs)
  foreach(folder IN LISTS ARGN)
    if(NOT IS_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
      continue()
    endif()
    get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type STREQUAL "EXECUTABLE")
        add_dependencies(swage_programs ${target})
      endif()
    endforeach()
  endforeach()
endfunction()

function(swage_describe_target name layer qt)
  set_target_properties(${name} PROPERTIES SWAGE_LAYER "${layer}")
  set_property(GLOBAL APPEND PROPERTY SWAGE_TARGETS ${name})
  if(qt)
    set_target_properties(${name} PROPERTIES AUTOMOC ON)
    target_compile_definitions(${name} PRIVATE
      QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_CAST_FROM_BYTEARRAY QT_NO_FOREACH QT_STRICT_ITERATORS
      QT_USE_QSTRINGBUILDER QT_NO_NARROWING_CONVERSIONS_IN_CONNECT)
  endif()
endfunction()

# swage_add_test(name SOURCES … LIBS … LABELS unit|qt|e2e|gpu [TIMEOUT 60] [QT] [MAIN support-library] [ENVIRONMENT …])
# MAIN is a library of tests/support with the main function; the default is swage_test_main.
function(swage_add_test name)
  cmake_parse_arguments(ARG "QT" "TIMEOUT;MAIN" "SOURCES;LIBS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(SWAGE_SANITIZER)
    math(EXPR ARG_TIMEOUT "5 * ${ARG_TIMEOUT}")  # programs run several times slower under it
  endif()
  if(NOT ARG_MAIN)
    set(ARG_MAIN swage_test_main)
  endif()
  swage_add_program(${name} LAYER tests SOURCES ${ARG_SOURCES} LIBS ${ARG_LIBS} ${ARG_MAIN})
  if(ARG_QT)
    set_target_properties(${name} PROPERTIES AUTOMOC ON)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  # The code under test is optimised as it is shipped; its tests take a third less time to compile this way.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Programs with libtorch may be slow to start where nothing of it is in memory yet.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8;TZ=UTC;${ARG_ENVIRONMENT}")
endfunction()

# Filled in by SwageLayering.cmake; see there for the table of allowed arrows.
include(SwageLayering OPTIONAL)
if(NOT COMMAND swage_check_layering)
  function(swage_check_layering)
  endfunction()
endif()
