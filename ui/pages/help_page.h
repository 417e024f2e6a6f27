// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>
#include <vector>

class QComboBox;
class QTextBrowser;
class QToolButton;
class QUrl;

namespace swage::ui {

struct HelpTopic {
  QString id;  // "filter": of the file in resources/help and of links, help:filter
  QString title;
};

// In the order in which they are offered.
[[nodiscard]] const std::vector<HelpTopic>& helpTopics();

// The help: Markdown of resources/help, with tables of what the program knows itself (keys of the filter language,
// shortcuts) put in where it is shown, so that they are never out of date.
class HelpPage final : public QWidget {
  Q_OBJECT

 public:
  // Markdown of a table of all shortcuts, asked for each time it is shown.
  using Shortcuts = std::function<QString()>;

  explicit HelpPage(QWidget* parent = nullptr);
  void setShortcuts(Shortcuts shortcuts) { m_shortcuts = std::move(shortcuts); }
  // An unknown topic is a programmer's error.
  void showTopic(const QString& id);
  [[nodiscard]] QString topic() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show(const QString& id);
  void follow(const QUrl& link);
  void goBack();
  [[nodiscard]] QString markdownOf(const QString& id) const;

  Shortcuts m_shortcuts;
  QComboBox* m_topics;
  QToolButton* m_back;
  QTextBrowser* m_text;
  std::vector<QString> m_past;
};

}  // namespace swage::ui
