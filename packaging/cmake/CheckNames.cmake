# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=<project> -P CheckNames.cmake: no two public headers define a class or struct of one name, in
# whatever namespaces, so that a name in a message, a stack trace or a search is one thing. What is nested in a class or
# stands in a .cpp file is that file's own.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/core/*.h ${ROOT}/app/*.h ${ROOT}/ui/*.h)
set(failures 0)
set(names "")
foreach(header IN LISTS headers)
  # Definitions at the level of a namespace begin in the first column, and end neither as a declaration nor as a member
  # of another class (struct Record::Impl).
  file(STRINGS ${ROOT}/${header} lines REGEX "^(class|struct) [A-Z][A-Za-z0-9]*( final)?( :.*| {.*|)$")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^(class|struct) ([A-Z][A-Za-z0-9]*).*" "\\2" name "${line}")
    if(DEFINED place_${name} AND NOT place_${name} STREQUAL header)
      message("${name}: defined in ${place_${name}} and in ${header}")
      math(EXPR failures "${failures} + 1")
    endif()
    set(place_${name} ${header})
    list(APPEND names ${name})
  endforeach()
endforeach()

list(LENGTH names count)
if(failures GREATER 0)
  message(FATAL_ERROR "${failures} names stand for two things")
endif()
if(count LESS 100)
  message(FATAL_ERROR "only ${count} definitions were found: the search has lost its headers")
endif()
message("${count} names are unique")
