# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers, as one interface target that every Swage target links privately.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Most of a unit's time is spent on headers: units of eight sources make a build from nothing three times as fast. The preset
# dev compiles each source alone, so that none lacks an include.
option(SWAGE_UNITY "Compile several sources of a target as one unit" ON)
set(CMAKE_UNITY_BUILD ${SWAGE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# swage_compile_alone(FILE…): sources that do not go together with others, for example because names of a test mean
# something else in each file of a folder.
function(swage_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

option(SWAGE_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(SWAGE_SANITIZER "" CACHE STRING "address (with undefined) or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(swage_options INTERFACE)
target_compile_options(swage_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
  -Wextra-semi -Wcast-qual)
if(SWAGE_WARNINGS_AS_ERRORS)
  target_compile_options(swage_options INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(swage_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(SWAGE_SANITIZER STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(SWAGE_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
