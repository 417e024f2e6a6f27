// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dock_layout.h"

#include <QAbstractScrollArea>
#include <QAction>
#include <QLayout>
#include <QMenu>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/assert.h"
#include "ui/shell/page_frame.h"
#include "ui/shell/shortcuts.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kVersion = 3;
// All pages are nested in one area. Between several areas and no central widget, QMainWindow takes a little from one
// and gives it to another each time it is resized, and each time a bar appears.
constexpr Qt::DockWidgetArea kArea = Qt::TopDockWidgetArea;
constexpr std::array kPlaces = {Place::Navigator, Place::Centre,    Place::Below,
                                Place::Side,      Place::SideBelow, Place::Bottom};

// Shares of the window, in percent.
struct Shares {
  int navigator;
  int side;
  int below;      // of the height of the centre
  int sideBelow;  // of the height of the side
  int bottom;
};

Shares sharesOf(Layout layout) {
  switch (layout) {
    case Layout::Search: return {.navigator = 17, .side = 36, .below = 45, .sideBelow = 34, .bottom = 34};
    case Layout::Inspect: return {.navigator = 17, .side = 34, .below = 45, .sideBelow = 42, .bottom = 30};
    case Layout::Compare: return {.navigator = 17, .side = 28, .below = 45, .sideBelow = 45, .bottom = 26};
  }
  return {};
}

// A page that has no use for keys itself passes them on: to its first list or text, or else to what takes them first.
void focusInto(QWidget& page) {
  if (page.focusPolicy() != Qt::NoFocus || page.focusProxy() != nullptr) {
    page.setFocus(Qt::OtherFocusReason);
    return;
  }
  QWidget* wanted = nullptr;
  for (QWidget* one : page.findChildren<QWidget*>()) {
    if (!one->isVisibleTo(&page) || !one->isEnabled() || (one->focusPolicy() & Qt::TabFocus) == 0) {
      continue;
    }
    const bool isContent = qobject_cast<QAbstractScrollArea*>(one) != nullptr;
    if (wanted == nullptr || isContent) {
      wanted = one;
    }
    if (isContent) {
      break;
    }
  }
  (wanted != nullptr ? wanted : &page)->setFocus(Qt::OtherFocusReason);
}

std::optional<Place> placeIn(const PageDescriptor& page, Layout layout) {
  const auto entry = std::find_if(page.shownIn.begin(), page.shownIn.end(),
                                  [layout](const auto& shown) { return shown.first == layout; });
  return entry != page.shownIn.end() ? std::optional(entry->second) : std::nullopt;
}

}  // namespace

DockLayout::DockLayout(QMainWindow& window) : QObject(&window), m_window(window) {
  window.setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks |
                        QMainWindow::GroupedDragging);
  window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
}

DockLayout::Docked& DockLayout::dock(const PageDescriptor& descriptor, QWidget* page) {
  auto* dock = new QDockWidget(descriptor.title, &m_window);
  dock->setObjectName(descriptor.id % u"Dock"_s);
  dock->setWidget(new PageFrame(page));
  // QDockWidget's own action would close a page that is open: keys that lead to a page must not take it away.
  auto* action = new QAction(descriptor.title, &m_window);
  action->setObjectName(u"show_"_s % descriptor.id);
  action->setToolTip(descriptor.hint);
  action->setStatusTip(descriptor.hint);
  action->setShortcut(descriptor.shortcut);
  action->setProperty(kCommandTitle, tr("Page: %1").arg(descriptor.title));
  m_window.addAction(action);
  connect(action, &QAction::triggered, dock, [this, id = descriptor.id] { show(id); });
  m_window.addDockWidget(kArea, dock);
  m_docks.push_back({.descriptor = descriptor,
                     .dock = dock,
                     .page = page,
                     .showPage = action,
                     .setTheme = {},
                     .save = {},
                     .restore = {}});
  return m_docks.back();
}

const DockLayout::Docked& DockLayout::find(const QString& id) const {
  const auto found =
      std::find_if(m_docks.begin(), m_docks.end(), [&id](const Docked& docked) { return docked.descriptor.id == id; });
  SWAGE_ASSERT(found != m_docks.end());
  return *found;
}

void DockLayout::setTheme(const Theme& theme) {
  for (const Docked& docked : m_docks) {
    if (docked.setTheme) {
      docked.setTheme(theme);
    }
  }
}

void DockLayout::apply(Layout layout) {
  m_current = layout;
  for (const Docked& docked : m_docks) {
    docked.dock->setFloating(false);
    m_window.removeDockWidget(docked.dock);
  }
  split(layout);
  for (const Place where : kPlaces) {
    fill(layout, where);
  }
  resizePlaces(layout);
  Q_EMIT arranged();
}

std::vector<const DockLayout::Docked*> DockLayout::docksAt(Layout layout, Place where) const {
  std::vector<const Docked*> docks;
  for (const Docked& docked : m_docks) {
    if (placeIn(docked.descriptor, layout).value_or(docked.descriptor.home) == where) {
      docks.push_back(&docked);
    }
  }
  return docks;
}

// One dock in each place, from the coarse division to the fine one: a dock among tabs cannot be split any more.
void DockLayout::split(Layout layout) {
  const auto at = [&](Place where) {
    const auto docks = docksAt(layout, where);
    return docks.empty() ? nullptr : docks.front()->dock;
  };
  const auto put = [this](QDockWidget* dock, QDockWidget* beside, Qt::Orientation orientation) {
    if (dock == nullptr || dock == beside) {
      return beside;
    }
    if (beside == nullptr) {
      m_window.addDockWidget(kArea, dock);
    } else {
      m_window.splitDockWidget(beside, dock, orientation);
    }
    return dock;
  };
  const auto firstOf = [&](std::initializer_list<Place> places) {
    QDockWidget* found = nullptr;
    for (const Place where : places) {
      found = found == nullptr ? at(where) : found;
    }
    return found;
  };
  QDockWidget* left = put(firstOf({Place::Navigator, Place::Centre, Place::Below, Place::Bottom}), nullptr, {});
  QDockWidget* right = put(firstOf({Place::Side, Place::SideBelow}), left, Qt::Horizontal);
  put(at(Place::Bottom), left, Qt::Vertical);
  QDockWidget* centre = put(firstOf({Place::Centre, Place::Below}), left, Qt::Horizontal);
  put(at(Place::Below), centre, Qt::Vertical);
  put(at(Place::SideBelow), right, Qt::Vertical);
}

void DockLayout::fill(Layout layout, Place where) {
  const std::vector<const Docked*> docks = docksAt(layout, where);
  QDockWidget* front = nullptr;
  for (const Docked* docked : docks) {
    if (docked != docks.front()) {
      m_window.tabifyDockWidget(docks.front()->dock, docked->dock);
    }
    const bool isShown = placeIn(docked->descriptor, layout).has_value();
    docked->dock->setVisible(isShown);
    front = front == nullptr && isShown ? docked->dock : front;
  }
  if (front != nullptr) {
    front->raise();
  }
}

QDockWidget* DockLayout::frontAt(Layout layout, Place where) const {
  const auto found = std::find_if(m_docks.begin(), m_docks.end(), [layout, where](const Docked& docked) {
    return placeIn(docked.descriptor, layout) == where;
  });
  return found != m_docks.end() ? found->dock : nullptr;
}

void DockLayout::resizePlaces(Layout layout) {
  const Shares shares = sharesOf(layout);
  const QSize window = m_window.size();
  // All at once in each direction: docks that are not named give way to those that are.
  const auto resize = [&](Qt::Orientation orientation, std::initializer_list<std::pair<Place, int>> percents) {
    QList<QDockWidget*> docks;
    QList<int> sizes;
    const int whole = orientation == Qt::Horizontal ? window.width() : window.height();
    for (const auto& [where, percent] : percents) {
      if (QDockWidget* dock = frontAt(layout, where)) {
        docks.push_back(dock);
        sizes.push_back(whole * percent / 100);
      }
    }
    m_window.resizeDocks(docks, sizes, orientation);
  };
  const auto taken = [&](Place where, int percent) { return frontAt(layout, where) != nullptr ? percent : 0; };
  const int centre = 100 - taken(Place::Navigator, shares.navigator) - taken(Place::Side, shares.side);
  const int aboveBottom = 100 - taken(Place::Bottom, shares.bottom);
  resize(Qt::Horizontal, {{Place::Navigator, shares.navigator}, {Place::Centre, centre}, {Place::Side, shares.side}});
  resize(Qt::Vertical, {{Place::Centre, aboveBottom}, {Place::Bottom, shares.bottom}});
  resize(Qt::Vertical, {{Place::Side, 100 - shares.sideBelow}, {Place::SideBelow, shares.sideBelow}});
  resize(Qt::Vertical, {{Place::Below, aboveBottom * shares.below / 100}});
}

void DockLayout::show(const QString& id) {
  const Docked& found = find(id);
  found.dock->show();
  found.dock->raise();
  focusInto(*found.page);
}

void DockLayout::showLarge(const QString& id) {
  constexpr double kWidth = 0.48;
  constexpr double kHeight = 0.55;
  show(id);
  QDockWidget* dock = find(id).dock;
  if (!dock->isFloating()) {
    growTo(*dock, static_cast<int>(m_window.width() * kWidth), Qt::Horizontal);
    growTo(*dock, static_cast<int>(m_window.height() * kHeight), Qt::Vertical);
  }
}

// The docks beside it give way in proportion to their size. They have to be named: of one dock alone, QMainWindow
// takes back what does not fit.
void DockLayout::growTo(QDockWidget& dock, int wanted, Qt::Orientation orientation) {
  const bool isHorizontal = orientation == Qt::Horizontal;
  const auto extent = [isHorizontal](const QRect& rect) { return isHorizontal ? rect.width() : rect.height(); };
  const int now = extent(dock.geometry());
  const int room = extent(m_window.rect()) - now;
  if (now >= wanted || room <= 0) {
    return;
  }
  QList<QDockWidget*> docks{&dock};
  QList<int> sizes{wanted};
  const QRect row = isHorizontal ? QRect(0, dock.y(), m_window.width(), dock.height())
                                 : QRect(dock.x(), 0, dock.width(), m_window.height());
  for (const Docked& docked : m_docks) {
    const QRect rect = docked.dock->geometry();
    const bool isBeside = docked.dock->isVisible() && !docked.dock->isFloating() && docked.dock != &dock &&
                          rect.intersects(row) && !m_window.tabifiedDockWidgets(&dock).contains(docked.dock);
    if (isBeside) {
      docks.push_back(docked.dock);
      sizes.push_back(extent(rect) * (room - (wanted - now)) / room);
    }
  }
  m_window.resizeDocks(docks, sizes, orientation);
  m_window.layout()->activate();  // now: a later one, that of a page which was raised, would take the sizes back
}

void DockLayout::hide(const QString& id) {
  QDockWidget* dock = find(id).dock;
  const QList<QDockWidget*> beside = m_window.tabifiedDockWidgets(dock);
  dock->hide();
  // Not the tab that Qt takes, which is the last one.
  const auto first = std::find_if(m_docks.begin(), m_docks.end(), [&](const Docked& docked) {
    return beside.contains(docked.dock) && !docked.dock->isHidden();
  });
  if (first != m_docks.end()) {
    first->dock->raise();
  }
}

QString DockLayout::pageOf(const QWidget* widget) const {
  for (const Docked& docked : m_docks) {
    if (widget != nullptr && (docked.dock == widget || docked.dock->isAncestorOf(widget))) {
      return docked.descriptor.id;
    }
  }
  return {};
}

std::vector<const PageDescriptor*> DockLayout::pages() const {
  std::vector<const PageDescriptor*> pages;
  for (const Docked& docked : m_docks) {
    pages.push_back(&docked.descriptor);
  }
  return pages;
}

void DockLayout::fillMenu(QMenu& menu) const {
  for (const Docked& docked : m_docks) {
    menu.addAction(docked.showPage);
  }
}

QByteArray DockLayout::save() const {
  return m_window.saveState(kVersion);
}

bool DockLayout::restore(const QByteArray& state) {
  const bool restored = m_window.restoreState(state, kVersion);
  Q_EMIT arranged();
  return restored;
}

QJsonObject DockLayout::savePages() const {
  QJsonObject states;
  for (const Docked& docked : m_docks) {
    if (docked.save) {
      states.insert(docked.descriptor.id, docked.save());
    }
  }
  return states;
}

void DockLayout::restorePages(const QJsonObject& states) {
  for (const Docked& docked : m_docks) {
    if (const QJsonValue state = states[docked.descriptor.id]; docked.restore && state.isObject()) {
      docked.restore(state.toObject());
    }
  }
}

}  // namespace swage::ui
