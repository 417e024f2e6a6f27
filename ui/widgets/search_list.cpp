// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/search_list.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>

namespace swage::ui {

QWidget* makeSearchList(QLineEdit& field, QWidget& below) {
  field.setClearButtonEnabled(true);
  auto* list = new QWidget;
  auto* column = new QVBoxLayout(list);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 6, 8, 6);
  bar->addWidget(&field);
  column->addLayout(bar);
  column->addWidget(&below, 1);
  return list;
}

}  // namespace swage::ui
