// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QObject>
#include <QTimer>

#include <chrono>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/json.h"
#include "core/process/child_process.h"

namespace swage::process {

// Which Python runs the bridge, and where the package lies.
struct BridgeEnvironment {
  std::string python;
  std::string packageFolder;  // goes to PYTHONPATH
};

// One run of `python -m swage_bridge`. Emits finished() exactly once, with the document it printed or with its error.
// One thread only; nothing here waits. Destroying it kills the run.
class BridgeCall : public QObject {
  Q_OBJECT

 public:
  BridgeCall(const BridgeEnvironment& environment, std::vector<std::string> arguments, std::chrono::milliseconds limit,
             QObject* parent = nullptr);

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<nlohmann::json>& document);

 private:
  void collect(const QByteArray& bytes);
  void handleEnd(const ChildEnd& end);
  [[nodiscard]] Result<domain::Json> outcome(const ChildEnd& end) const;

  BridgeEnvironment m_environment;
  std::vector<std::string> m_arguments;
  std::chrono::milliseconds m_limit;
  ChildProcess m_child;
  QTimer m_deadline;
  QByteArray m_output;
  bool m_cancelled = false;
  bool m_timedOut = false;
  bool m_tooLarge = false;
};

}  // namespace swage::process
