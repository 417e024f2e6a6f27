// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/draft_store.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr qint64 kMaxBytes = qint64{16} * 1024 * 1024;  // of a file that something else may have written

std::filesystem::path absolutePath(const std::filesystem::path& project) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(project, ignored).lexically_normal();
  return absolute.empty() ? project : absolute;
}

}  // namespace

QString DraftStore::fileOf(const std::filesystem::path& project, domain::CandidateId candidate) const {
  const QByteArray path = QByteArray::fromStdString(absolutePath(project).string());
  const QString hash = QString::fromLatin1(QCryptographicHash::hash(path, QCryptographicHash::Sha256).toHex().left(16));
  return QString::fromStdString(m_folder.string()) % u'/' % hash % u'-' % QString::number(candidate.value()) %
         u".json"_s;
}

std::optional<Draft> DraftStore::load(const std::filesystem::path& project, domain::CandidateId candidate) const {
  if (m_folder.empty()) {
    return std::nullopt;
  }
  QFile file(fileOf(project, candidate));
  if (!file.exists() || file.size() > kMaxBytes || !file.open(QIODevice::ReadOnly)) {
    return std::nullopt;
  }
  const QJsonObject json = QJsonDocument::fromJson(file.readAll()).object();
  if (!json.value("text"_L1).isString()) {
    return std::nullopt;
  }
  return Draft{json.value("text"_L1).toString(),
               QDateTime::fromString(json.value("saved_at"_L1).toString(), Qt::ISODate)};
}

Result<> DraftStore::save(const std::filesystem::path& project, domain::CandidateId candidate,
                          const QString& text) const {
  if (m_folder.empty()) {
    return {};
  }
  const QString folder = QString::fromStdString(m_folder.string());
  QSaveFile file(fileOf(project, candidate));
  const QJsonObject json = {{u"project"_s, QString::fromStdString(absolutePath(project).string())},
                            {u"candidate"_s, static_cast<qint64>(candidate.value())},
                            {u"saved_at"_s, QDateTime::currentDateTimeUtc().toString(Qt::ISODate)},
                            {u"text"_s, text}};
  const QByteArray bytes = QJsonDocument(json).toJson();
  if (!QDir().mkpath(folder) || !file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() ||
      !file.commit()) {
    return Error(ErrorKind::Io, "cannot keep the draft: " + file.errorString().toStdString(),
                 "make room in " + m_folder.string() + ", or evaluate the draft before you leave");
  }
  return {};
}

void DraftStore::remove(const std::filesystem::path& project, domain::CandidateId candidate) const {
  if (!m_folder.empty()) {
    QFile::remove(fileOf(project, candidate));
  }
}

}  // namespace swage::ui
