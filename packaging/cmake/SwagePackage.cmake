# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs: programs, what they read, man pages and completions. The same as an archive or a Debian
# package: `cpack -G TGZ` or `cpack -G DEB` in a build.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME swage)
set(CPACK_PACKAGE_VENDOR "The Swage developers")
set(CPACK_PACKAGE_CONTACT "The Swage developers <noreply@swage.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# PyTorch comes with a Python, and bubblewrap keeps compilers from the rest of the machine; there are ways around both.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, bubblewrap")

# Where programs look for them: ../share/swage (core/process/locations.cpp).
install(DIRECTORY patterns resources/bridge resources/rules resources/tasks resources/selftest
  DESTINATION ${CMAKE_INSTALL_DATADIR}/swage
  PATTERN __pycache__ EXCLUDE PATTERN tests EXCLUDE)

# A package says under which licences its files are.
install(FILES LICENSE LICENSE.GPL-3.0 LICENSE.MIT-0 LICENSING.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/swage)
include(CPack)
