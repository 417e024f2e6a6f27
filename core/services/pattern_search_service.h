// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/pattern_entry.h"

namespace swage::services {

using FoundPatterns = std::shared_ptr<const std::vector<domain::PatternEntry>>;

// Finds by words what is known about fast kernels on this machine, beside the catalogue also kernels that won earlier,
// templates of installed compilers, and data sheets.
class PatternSearchService {
 public:
  virtual ~PatternSearchService() = default;
  // Best first. Ends on another thread, in milliseconds; the first one reads what has changed on the machine, which may
  // take seconds. A cancelled one may not be begun.
  [[nodiscard]] virtual QFuture<Result<FoundPatterns>> search(const std::string& question) = 0;
};

}  // namespace swage::services
