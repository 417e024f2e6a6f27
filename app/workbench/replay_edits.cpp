// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/replay_edits.h"

#include <QTimer>

namespace swage::workbench {
namespace {

Error refusal() {
  return Error(ErrorKind::Unsupported, "the demo cannot evaluate an edit: it only replays a recorded run",
               "start swage-workbench without --demo");
}

}  // namespace

// Later: whoever asks is not ready for an answer yet.
void ReplayEdits::evaluate(const services::EditSpec&) {
  QTimer::singleShot(0, this, [this] { Q_EMIT finished(refusal()); });
}

Result<std::vector<services::RegionParameters>> ReplayEdits::regions(domain::Language, const domain::Genome&) const {
  return std::vector<services::RegionParameters>();
}

}  // namespace swage::workbench
