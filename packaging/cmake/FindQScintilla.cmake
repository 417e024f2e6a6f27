# SPDX-License-Identifier: Apache-2.0
# Debian's QScintilla for Qt 6 comes without a CMake package. Defines QScintilla::QScintilla and QScintilla_VERSION.
find_package(Qt6 QUIET COMPONENTS Core Widgets PrintSupport)

find_path(QScintilla_INCLUDE_DIR NAMES Qsci/qsciscintilla.h HINTS ${Qt6Core_INCLUDE_DIRS} PATH_SUFFIXES qt6)
find_library(QScintilla_LIBRARY NAMES qscintilla2_qt6)
if(QScintilla_INCLUDE_DIR)
  file(STRINGS ${QScintilla_INCLUDE_DIR}/Qsci/qsciglobal.h _qscintilla_version REGEX "QSCINTILLA_VERSION_STR")
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)+" QScintilla_VERSION "${_qscintilla_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(QScintilla
  REQUIRED_VARS QScintilla_LIBRARY QScintilla_INCLUDE_DIR
  VERSION_VAR QScintilla_VERSION
  REASON_FAILURE_MESSAGE "install libqscintilla2-qt6-dev")

if(QScintilla_FOUND AND NOT TARGET QScintilla::QScintilla)
  add_library(QScintilla::QScintilla UNKNOWN IMPORTED)
  set_target_properties(QScintilla::QScintilla PROPERTIES
    IMPORTED_LOCATION ${QScintilla_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${QScintilla_INCLUDE_DIR})
  target_link_libraries(QScintilla::QScintilla INTERFACE Qt6::Widgets Qt6::PrintSupport)
endif()
mark_as_advanced(QScintilla_INCLUDE_DIR QScintilla_LIBRARY)
