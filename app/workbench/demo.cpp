// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/demo.h"

#include <QDataStream>
#include <QFile>

#include <algorithm>
#include <system_error>

#include "core/base/files.h"

using namespace Qt::StringLiterals;

// Q_INIT_RESOURCE declares a function and so cannot stand inside a namespace.
static void initDemoResources() {
  Q_INIT_RESOURCE(demo);
}

namespace swage::workbench {
namespace {

// Long enough to watch, short enough to stay for; and for a picture of what is found in the end.
constexpr double kSecondsToWatch = 45.0;
constexpr double kSecondsToItsEnd = 2.0;

Result<> writeEntry(const std::filesystem::path& folder, const QByteArray& name, const QByteArray& content) {
  const std::filesystem::path relative(name.toStdString());
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return Error(ErrorKind::InvalidInput, "the recording names a file outside of its folder");
  }
  const std::filesystem::path file = folder / relative;
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  return writeFileAtomically(file, std::string_view(content.constData(), static_cast<std::size_t>(content.size())));
}

}  // namespace

Result<> unpackRecording(const QByteArray& packed, const std::filesystem::path& folder) {
  const QByteArray plain = qUncompress(packed);
  QDataStream stream(plain);
  while (!stream.atEnd()) {
    QByteArray name;
    QByteArray content;
    stream >> name >> content;
    if (stream.status() != QDataStream::Ok || name.isEmpty()) {
      return Error(ErrorKind::InvalidInput, "the recording is damaged");
    }
    SWAGE_TRY(writeEntry(folder, name, content));
  }
  return plain.isEmpty() ? Result<>(Error(ErrorKind::InvalidInput, "the recording is damaged")) : Result<>();
}

Demo::Demo(const process::Locations& locations) : m_recorded(process::Programs::standard(locations), m_source) {}

std::filesystem::path Demo::project() const {
  return m_folder.path().toStdString();
}

Result<std::unique_ptr<Demo>> Demo::open(const process::Locations& locations, Pace pace) {
  initDemoResources();
  std::unique_ptr<Demo> demo(new Demo(locations));
  if (!demo->m_folder.isValid()) {
    return Error(ErrorKind::Io, "cannot make a folder for the demo: " + demo->m_folder.errorString().toStdString());
  }
  QFile file(u":/demo/recording.pack"_s);
  if (!file.open(QIODevice::ReadOnly)) {
    return Error(ErrorKind::NotFound, "this build has no recorded search");
  }
  SWAGE_TRY(unpackRecording(file.readAll(), demo->project()));
  SWAGE_TRY(demo->m_source.open(demo->project()));
  SWAGE_TRY(demo->m_record.load());
  const double seconds = pace == Pace::ToWatch ? kSecondsToWatch : kSecondsToItsEnd;
  demo->m_run = std::make_unique<ReplayRun>(demo->m_record, std::max(1.0, demo->m_record.end() / seconds));
  return demo;
}

}  // namespace swage::workbench
