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

QStringList toStrings(const QJsonValue& value) {
  QStringList strings;
  for (const auto& one : value.toArray()) {
    strings.push_back(one.toString());
  }
  return strings;
}

QMap<QString, QByteArray> toLayouts(const QJsonValue& value) {
  QMap<QString, QByteArray> layouts;
  const QJsonObject json = value.toObject();
  for (auto one = json.begin(); one != json.end(); ++one) {
    layouts.insert(one.key(), fromBase64(one.value()));
  }
  return layouts;
}

QJsonObject fromLayouts(const QMap<QString, QByteArray>& layouts) {
  QJsonObject json;
  for (auto one = layouts.begin(); one != layouts.end(); ++one) {
    json.insert(one.key(), toBase64(one.value()));
  }
  return json;
}

LeftOff toLeftOff(const QJsonObject& json) {
  return {.task = json[u"task"_s].toString(),
          .project = json[u"project"_s].toString(),
          .projectChosen = json[u"project_chosen"_s].toBool(),
          .run = json[u"run"_s].toInteger(),
          .candidate = json[u"candidate"_s].toInteger()};
}

QJsonObject fromLeftOff(const LeftOff& leftOff) {
  return {{u"task"_s, leftOff.task},
          {u"project"_s, leftOff.project},
          {u"project_chosen"_s, leftOff.projectChosen},
          {u"run"_s, static_cast<qint64>(leftOff.run)},
          {u"candidate"_s, static_cast<qint64>(leftOff.candidate)}};
}

}  // namespace

ShellState loadShellState(const std::filesystem::path& file) {
  ShellState state;
  if (file.empty()) {
    return state;
  }
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
  state.layouts = toLayouts(json[u"layouts"_s]);
  state.pages = json[u"pages"_s].toObject();
  state.recentTasks = toStrings(json[u"recent_tasks"_s]);
  state.recentProjects = toStrings(json[u"recent_projects"_s]);
  state.leftOff = toLeftOff(json[u"left_off"_s].toObject());
  if (json[u"missing"_s].isArray()) {
    state.missing = toStrings(json[u"missing"_s]);
  }
  return state;
}

Result<> saveShellState(const ShellState& state, const std::filesystem::path& file) {
  QJsonObject json{{u"schema"_s, kSchema},
                   {u"geometry"_s, toBase64(state.geometry)},
                   {u"layout"_s, toBase64(state.layout)},
                   {u"layouts"_s, fromLayouts(state.layouts)},
                   {u"pages"_s, state.pages},
                   {u"recent_tasks"_s, QJsonArray::fromStringList(state.recentTasks)},
                   {u"recent_projects"_s, QJsonArray::fromStringList(state.recentProjects)},
                   {u"left_off"_s, fromLeftOff(state.leftOff)}};
  if (state.missing) {
    json.insert(u"missing"_s, QJsonArray::fromStringList(*state.missing));
  }
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot create '" + file.parent_path().string() + "': " + failure.message());
  }
  return writeFileAtomically(file, QJsonDocument(json).toJson().toStdString());
}

}  // namespace swage::ui
