// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <QVariant>

#include <cstdint>
#include <limits>
#include <vector>

namespace swage::ui {

// One thing that can be set, as the dialog shows it.
struct SettingInfo {
  QString key;  // "search.target"; its first part is the section
  QString title;
  QString hint;
  QVariant standard;         // bool, int or QString: also its type
  QStringList choices = {};  // of a text; empty: any
  bool atNextStart = false;  // takes effect then
  int least = 0;             // of a number
  int most = std::numeric_limits<int>::max();
  QString atZero = {};  // what a number says then; empty: 0
  enum class Names : std::uint8_t { Nothing, File, Folder };
  Names names = Names::Nothing;  // what a text leads to on the disk
  QString warnedOf = {};         // the value that `warning` is about
  QString warning = {};
};

struct SettingSection {
  QString id;
  QString title;
  std::vector<SettingInfo> settings;
};

// Every setting there is. What is not in it is unknown to Swage.
[[nodiscard]] const std::vector<SettingSection>& settingCatalogue();
// Null: there is no such setting.
[[nodiscard]] const SettingInfo* findSetting(const QString& key);

}  // namespace swage::ui
