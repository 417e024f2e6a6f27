// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/setup_check.h"

#include <utility>

#include "ui/pages/doctor_page.h"
#include "ui/shell/dock_layout.h"

namespace swage::ui {

SetupCheck::SetupCheck(DoctorPage& page, DockLayout& docks, QObject* parent)
    : QObject(parent), m_page(page), m_docks(docks) {
  connect(&page, &DoctorPage::checked, this, &SetupCheck::handleChecked);
}

void SetupCheck::remember(const Missing& known) {
  m_known = known;
  m_isWanted = !m_known || !m_known->isEmpty();
}

void SetupCheck::start() {
  if (std::exchange(m_isWanted, false)) {
    m_isStarting = true;
    m_page.check();
  }
}

void SetupCheck::handleChecked(const QStringList& missing) {
  const bool isNews = !missing.isEmpty() && m_known != missing;
  m_known = missing;
  if (std::exchange(m_isStarting, false) && isNews) {
    m_docks.show(QStringLiteral("doctor"));
  }
}

}  // namespace swage::ui
