// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>

#include <memory>
#include <vector>

namespace swage::ui {

// A row of controls that goes on in further rows where it is too narrow for all of them. Controls have the size that
// they ask for; one that may grow (a horizontal policy with QSizePolicy::ExpandFlag) gets what is left of its row, and
// so does one that asks for nothing (QSizePolicy::Ignored), which therefore never begins a row. Its height follows from
// the width that it has, and not by height-for-width: of a page with that, a scroll area shows all that it would like
// to have, instead of what it needs.
class FlowLayout final : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent = nullptr);
  ~FlowLayout() override;

  void addItem(QLayoutItem* item) override;  // takes it over
  // Of a pair that may not be torn apart, such as a label and its field.
  void addPair(QWidget* label, QWidget* field);
  [[nodiscard]] int count() const override;
  [[nodiscard]] QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;     // as wide as all in one row
  [[nodiscard]] QSize minimumSize() const override;  // as wide as the widest control
  void setGeometry(const QRect& rect) override;

 private:
  struct Row {
    std::vector<QLayoutItem*> items;
    int width = 0;
    int height = 0;
  };
  [[nodiscard]] std::vector<Row> rows(int width) const;
  [[nodiscard]] int gap() const;
  [[nodiscard]] int height() const;  // with the width of now

  int m_width = 0;  // 0: not laid out yet
  std::vector<std::unique_ptr<QLayoutItem>> m_items;
};

}  // namespace swage::ui
