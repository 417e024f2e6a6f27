// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/export/modelnew.h"

namespace swage::exporting {

struct ExportedFile {
  std::string name;
  std::string content;
  friend bool operator==(const ExportedFile&, const ExportedFile&) = default;
};

// A folder that stands on its own: modelnew.py as writeModelNew() makes it, the kernels as a file of their own, the
// launch plan and the provenance as JSON, the original module, a test that compares the two, a script that times them,
// and a README with what was measured. Without kernels (PyTorch's own operators won) there is no kernel file. Errors:
// those of writeModelNew().
[[nodiscard]] Result<std::vector<ExportedFile>> writeProject(const ModelNewInput& input);

}  // namespace swage::exporting
