// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/domain/compilation.h"
#include "core/services/compile_service.h"

namespace swage::workbench {

// How long somebody who types waits for the assembly, from the last key: with the moment that the keys have to rest.
struct DraftTimes {
  int drafts = 0;
  double firstMs = 0.0;   // with the start of the compiler, and of its cache if there is none yet
  double medianMs = 0.0;  // of the others
  double maxMs = 0.0;
  std::int64_t assemblyLines = 0;  // of the last one; an empty listing is an error
};

// Compiles `request` with another line at its end, as somebody types it, `drafts` times. Runs the event loop until
// then. `forward` gives a request to the compiler of `answers`, and returns its number.
[[nodiscard]] Result<DraftTimes> measureDrafts(services::CompileService& answers,
                                               const std::function<std::uint64_t(domain::CompileRequest)>& forward,
                                               const domain::CompileRequest& request, int drafts);

}  // namespace swage::workbench
