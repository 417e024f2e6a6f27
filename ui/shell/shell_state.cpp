// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/shell_state.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <system_error>

#include "core/base/files.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kSchema = 1;
constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

QByteArray fromBase64(const QJsonValue& value) {
  return QByteArray::fromBase64(value.toString().toLatin1());
}
QString toBase64(const QByteArray& bytes) {
  return QString::fromLatin1(bytes.toBase64());
}

}  // namespace

ShellState loadShellState(const std::filesystem::path& file) {
  ShellState state;
  const Result<std::string> text = readTextFile(file, kMaxBytes);
  if (!text) {
    return state;
  }
  const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(*text)).object();
  if (json[u"schema"_s].toInt() != kSchema) {
    return state;
  }
  state.geometry = fromBase64(json[u"geometry"_s]);
  state.layout = fromBase64(json[u"layout"_s]);
  state.theme = parseThemeChoice(json[u"theme"_s].toString()).value_or(ThemeChoice::System);
  state.heat = json[u"color_map"_s].toString() == "cividis"_L1 ? ColorMap::Cividis : ColorMap::Viridis;
  for (const QJsonValue& task : json[u"recent_tasks"_s].toArray()) {
    state.recentTasks.push_back(task.toString());
  }
  return state;
}

Result<> saveShellState(const ShellState& state, const std::filesystem::path& file) {
  const QJsonObject json{{u"schema"_s, kSchema},
                         {u"geometry"_s, toBase64(state.geometry)},
                         {u"layout"_s, toBase64(state.layout)},
                         {u"theme"_s, name(state.theme)},
                         {u"color_map"_s, state.heat == ColorMap::Cividis ? u"cividis"_s : u"viridis"_s},
                         {u"recent_tasks"_s, QJsonArray::fromStringList(state.recentTasks)}};
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot create '" + file.parent_path().string() + "': " + failure.message());
  }
  return writeFileAtomically(file, QJsonDocument(json).toJson().toStdString());
}

}  // namespace swage::ui
