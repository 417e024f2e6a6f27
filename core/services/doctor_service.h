// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <string>
#include <vector>

namespace swage::services {

struct DoctorCheck {
  enum class Status : std::uint8_t { Ok, Warning, Failed };
  std::string name;  // "C++ compiler"
  Status status = Status::Ok;
  std::string detail;     // "g++ 12.2.0 at /usr/bin/g++"
  std::string fix;        // "apt install g++"
  bool required = false;  // nothing works without it
};

// Looks at everything a run needs. Asynchronous: Python alone takes seconds to start.
class DoctorService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual void start() = 0;

 Q_SIGNALS:
  void finished(const std::vector<swage::services::DoctorCheck>& checks);
};

}  // namespace swage::services
