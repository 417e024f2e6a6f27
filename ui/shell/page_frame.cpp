// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/page_frame.h"

namespace swage::ui {
namespace {

constexpr QSize kLeast(140, 90);

}  // namespace

PageFrame::PageFrame(QWidget* page, QWidget* parent) : QScrollArea(parent) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  setWidget(page);
}

QSize PageFrame::minimumSizeHint() const {
  return widget()->minimumSizeHint().expandedTo(QSize(1, 1)).boundedTo(kLeast);
}

QSize PageFrame::sizeHint() const {
  return widget()->sizeHint();
}

}  // namespace swage::ui
