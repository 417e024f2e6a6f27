// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>

class QWidget;

namespace swage::ui {

// The questions the window asks in dialogs of their own. A seam, so that tests answer them. Never blocks: the answer
// arrives by the function, or never when the user changes their mind.
class Dialogs {
 public:
  using Answer = std::function<void(const QString& answer)>;

  virtual ~Dialogs() = default;
  virtual void chooseTaskFile(QWidget* parent, const Answer& chosen) = 0;
  virtual void chooseTaskBundle(QWidget* parent, const Answer& chosen) = 0;
  virtual void chooseTaskFolder(QWidget* parent, const Answer& chosen) = 0;
  virtual void chooseProject(QWidget* parent, const QString& current, const Answer& chosen) = 0;
  virtual void chooseExportFile(QWidget* parent, const QString& suggestion, const Answer& chosen) = 0;
  virtual void chooseExportFolder(QWidget* parent, const QString& suggestion, const Answer& chosen) = 0;
  // For a setting.
  virtual void chooseFile(QWidget* parent, const QString& title, const QString& current, const Answer& chosen) = 0;
  virtual void chooseFolder(QWidget* parent, const QString& title, const QString& current, const Answer& chosen) = 0;
  virtual void askText(QWidget* parent, const QString& title, const QString& question, const Answer& answered) = 0;
  virtual void showAbout(QWidget* parent) = 0;
};

class RealDialogs final : public Dialogs {
 public:
  void chooseTaskFile(QWidget* parent, const Answer& chosen) override;
  void chooseTaskBundle(QWidget* parent, const Answer& chosen) override;
  void chooseTaskFolder(QWidget* parent, const Answer& chosen) override;
  void chooseProject(QWidget* parent, const QString& current, const Answer& chosen) override;
  void chooseExportFile(QWidget* parent, const QString& suggestion, const Answer& chosen) override;
  void chooseExportFolder(QWidget* parent, const QString& suggestion, const Answer& chosen) override;
  void chooseFile(QWidget* parent, const QString& title, const QString& current, const Answer& chosen) override;
  void chooseFolder(QWidget* parent, const QString& title, const QString& current, const Answer& chosen) override;
  void askText(QWidget* parent, const QString& title, const QString& question, const Answer& answered) override;
  void showAbout(QWidget* parent) override;
};

}  // namespace swage::ui
