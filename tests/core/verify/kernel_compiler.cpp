// SPDX-License-Identifier: Apache-2.0
#include "tests/core/verify/kernel_compiler.h"

#include <cstdlib>

#include "core/base/assert.h"
#include "core/base/files.h"
#include "tests/support/temp_dir.h"

namespace swage::testing {

std::string compileSharedObject(std::string_view source) {
  const TempDir directory;
  const auto input = directory / "kernel.cpp";
  const auto output = directory / "kernel.so";
  SWAGE_ASSERT(writeFileAtomically(input, source).has_value());
  const std::string command =
      "c++ -std=c++17 -O1 -fPIC -shared -fopenmp -o '" + output.string() + "' '" + input.string() + "'";
  SWAGE_ASSERT(std::system(command.c_str()) == 0);
  auto bytes = readTextFile(output);
  SWAGE_ASSERT(bytes.has_value());
  return std::move(*bytes);
}

}  // namespace swage::testing
