// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDockWidget>
#include <QJsonObject>
#include <QMainWindow>
#include <QObject>

#include <concepts>
#include <functional>
#include <vector>

#include "ui/shell/page_descriptor.h"
#include "ui/widgets/theme.h"

class QMenu;

namespace swage::ui {

template <class Page>
concept ThemedPage = requires(Page& page, const Theme& theme) {
  page.setTheme(theme);
};

// A page that has something to remember between two starts: filters, sorting, what is unfolded.
template <class Page>
concept StatefulPage = requires(Page& page, const Page& same, const QJsonObject& state) {
  { same.saveState() } -> std::convertible_to<QJsonObject>;
  page.restoreState(state);
};

// The docks of the window and how they stand. There is no central widget: every page can be moved, closed, floated and
// tabbed, and a layout says where each begins. GUI thread only.
class DockLayout final : public QObject {
  Q_OBJECT

 public:
  explicit DockLayout(QMainWindow& window);

  // Docks a page, which the dock owns from here on. Its theme and its state follow from what it offers.
  template <std::derived_from<QWidget> Page>
  Page* add(const PageDescriptor& descriptor, Page* page) {
    Docked& docked = dock(descriptor, page);
    if constexpr (ThemedPage<Page>) {
      docked.setTheme = [page](const Theme& theme) { page->setTheme(theme); };
    }
    if constexpr (StatefulPage<Page>) {
      docked.save = [page] { return page->saveState(); };
      docked.restore = [page](const QJsonObject& state) { page->restoreState(state); };
    }
    return page;
  }

  void setTheme(const Theme& theme);
  // Arranges every dock anew, in proportion to the window.
  void apply(Layout layout);
  void reset() { apply(m_current); }
  [[nodiscard]] Layout current() const { return m_current; }
  // Opens a page, brings it to the front and gives it the keyboard. An unknown id is a programmer's error.
  void show(const QString& id);
  // The same, with enough of the window to work in.
  void showLarge(const QString& id);
  void hide(const QString& id);
  // The command that shows a page.
  [[nodiscard]] QAction* action(const QString& id) const { return find(id).showPage; }
  // The page that a widget belongs to; empty: none.
  [[nodiscard]] QString pageOf(const QWidget* widget) const;
  [[nodiscard]] std::vector<const PageDescriptor*> pages() const;
  // One entry for each page that shows it, in the order of their registration.
  void fillMenu(QMenu& menu) const;

  [[nodiscard]] QByteArray save() const;
  // False, and nothing has changed: this does not come from save(), or from another version of it.
  bool restore(const QByteArray& state);
  [[nodiscard]] QJsonObject savePages() const;
  void restorePages(const QJsonObject& states);

 Q_SIGNALS:
  void arranged();  // by apply() or restore()

 private:
  struct Docked {
    PageDescriptor descriptor;
    QDockWidget* dock = nullptr;
    QWidget* page = nullptr;
    QAction* showPage = nullptr;
    std::function<void(const Theme&)> setTheme;
    std::function<QJsonObject()> save;
    std::function<void(const QJsonObject&)> restore;
  };
  [[nodiscard]] const Docked& find(const QString& id) const;
  [[nodiscard]] Docked& dock(const PageDescriptor& descriptor, QWidget* page);
  [[nodiscard]] std::vector<const Docked*> docksAt(Layout layout, Place where) const;
  void split(Layout layout);
  void fill(Layout layout, Place where);
  void resizePlaces(Layout layout);
  void growTo(QDockWidget& dock, int wanted, Qt::Orientation orientation);
  [[nodiscard]] QDockWidget* frontAt(Layout layout, Place where) const;  // null: nothing is shown there

  QMainWindow& m_window;
  std::vector<Docked> m_docks;
  Layout m_current = Layout::Search;
};

}  // namespace swage::ui
