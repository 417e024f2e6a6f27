# SPDX-License-Identifier: Apache-2.0
# Three checks that the layers of ARCHITECTURE.md hold:
#  1. swage_check_layering(), at configure time: what each target links, also through others;
#  2. the test `layering.includes`: what each file includes, because headers are found without linking;
#  3. with SWAGE_VERIFY_HEADERS, the test `layering.headers`: every public header compiles alone. It takes minutes, so it
#     is for developers' presets.
include(${CMAKE_CURRENT_LIST_DIR}/SwageLayers.cmake)
set(SWAGE_LAYERING_FOLDER ${CMAKE_CURRENT_LIST_DIR})
option(SWAGE_VERIFY_HEADERS "Test that every public header compiles alone" OFF)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ${SWAGE_VERIFY_HEADERS})

# The libraries that a target names itself, generator expressions around private ones taken off.
function(_swage_links target out)
  set(links "")
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    get_target_property(own ${target} LINK_LIBRARIES)
    list(APPEND links ${own})
  endif()
  get_target_property(interface ${target} INTERFACE_LINK_LIBRARIES)
  list(APPEND links ${interface})
  list(TRANSFORM links REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
  list(FILTER links EXCLUDE REGEX "NOTFOUND$|^\\$<|^-|^::@")
  list(REMOVE_DUPLICATES links)
  set(${out} "${links}" PARENT_SCOPE)
endfunction()

# Everything that a target reaches.
function(_swage_reach target out)
  _swage_links(${target} pending)
  set(seen "")
  while(pending)
    list(POP_FRONT pending library)
    if(library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${library})
    if(TARGET ${library})
      _swage_links(${library} further)
      list(APPEND pending ${further})
    endif()
  endwhile()
  set(${out} "${seen}" PARENT_SCOPE)
endfunction()

# The layer of a target; each program is a layer of its own, named after its folder.
function(_swage_layer target out)
  get_target_property(layer ${target} SWAGE_LAYER)
  if(layer STREQUAL "app")
    get_target_property(folder ${target} SOURCE_DIR)
    get_filename_component(name ${folder} NAME)
    set(layer app_${name})
  endif()
  set(${out} ${layer} PARENT_SCOPE)
endfunction()

function(_swage_check_target target layer)
  _swage_links(${target} direct)
  _swage_reach(${target} reached)
  foreach(library IN LISTS reached)
    if(TARGET ${library})
      get_target_property(declared ${library} SWAGE_LAYER)
      if(declared)
        _swage_layer(${library} other)
        if(NOT other STREQUAL layer AND NOT other IN_LIST SWAGE_USES_${layer})
          message(SEND_ERROR "layering: ${target} (${layer}) must not reach ${library} (${other})")
        endif()
        continue()
      endif()
    endif()
    foreach(external IN LISTS SWAGE_EXTERNALS)
      if(NOT library MATCHES "${SWAGE_LINK_${external}}")
        continue()
      endif()
      if(NOT layer IN_LIST SWAGE_REACH_${external} OR (library IN_LIST direct AND NOT layer IN_LIST SWAGE_DIRECT_${external}))
        message(SEND_ERROR "layering: ${target} (${layer}) must not reach ${library}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Call it last: it looks at every target declared so far. Tests may see what they test and more; they are left out.
function(swage_check_layering)
  get_property(targets GLOBAL PROPERTY SWAGE_TARGETS)
  foreach(target IN LISTS targets)
    _swage_layer(${target} layer)
    if(layer STREQUAL "tests")
      continue()
    endif()
    if(NOT layer IN_LIST SWAGE_LAYERS)
      message(SEND_ERROR "layering: ${target} is of the unknown layer '${layer}'")
      continue()
    endif()
    _swage_check_target(${target} ${layer})
  endforeach()
  if(SWAGE_WITH_TESTS)
    _swage_add_layering_tests()
  endif()
endfunction()

function(_swage_add_layering_tests)
  add_test(NAME layering.includes
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${SWAGE_LAYERING_FOLDER}/CheckIncludes.cmake)
  # The checks must be able to fail.
  add_test(NAME layering.includes_are_checked
    COMMAND ${CMAKE_COMMAND} -DROOT=${SWAGE_LAYERING_FOLDER}/layering_test -P ${SWAGE_LAYERING_FOLDER}/CheckIncludes.cmake)
  set_tests_properties(layering.includes_are_checked PROPERTIES PASS_REGULAR_EXPRESSION
    "core/base/wrong.h: 'core/store/record.h' is not visible from core/base.*core/base/wrong.h: <QString> is not visible")
  foreach(case reach external program)
    add_test(NAME layering.links_are_checked_${case}
      COMMAND ${CMAKE_COMMAND} -S ${SWAGE_LAYERING_FOLDER}/layering_test -B ${PROJECT_BINARY_DIR}/layering_test/${case}
              -DCASE=${case} -DSWAGE_CMAKE=${SWAGE_LAYERING_FOLDER})
  endforeach()
  set_tests_properties(layering.links_are_checked_reach PROPERTIES PASS_REGULAR_EXPRESSION
    "swage_low \\(base\\) must not reach swage_high\n? *\\(store\\)")
  set_tests_properties(layering.links_are_checked_external PROPERTIES PASS_REGULAR_EXPRESSION
    "swage_middle \\(domain\\) must not reach\n? *Qt6::Core")
  set_tests_properties(layering.links_are_checked_program PROPERTIES PASS_REGULAR_EXPRESSION
    "swage_program \\(app_compiler\\) must not reach\n? *swage_high\n? *\\(store\\)")
  # Another version of clang-format formats in another way.
  find_program(CLANG_FORMAT NAMES clang-format-14 clang-format)
  if(CLANG_FORMAT)
    execute_process(COMMAND ${CLANG_FORMAT} --version OUTPUT_VARIABLE version ERROR_QUIET)
  endif()
  set(formatter "")
  if(version MATCHES "version 14\\.")
    set(formatter -DCLANG_FORMAT=${CLANG_FORMAT})
  endif()
  add_test(NAME house.licences_and_format
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} ${formatter} -P ${SWAGE_LAYERING_FOLDER}/CheckHouse.cmake)
  add_test(NAME house.unique_names
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${SWAGE_LAYERING_FOLDER}/CheckNames.cmake)
  find_program(PYTHON3 python3 REQUIRED)
  add_test(NAME house.bench_section COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/packaging/bench_section.py --check)
  set_property(TEST layering.includes layering.includes_are_checked layering.links_are_checked_reach
    layering.links_are_checked_external layering.links_are_checked_program house.licences_and_format
    house.unique_names house.bench_section PROPERTY LABELS unit)
  if(SWAGE_VERIFY_HEADERS)
    add_test(NAME layering.headers
      COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target all_verify_interface_header_sets)
    set_tests_properties(layering.headers PROPERTIES LABELS unit TIMEOUT 1800 RUN_SERIAL ON)
  endif()
endfunction()
