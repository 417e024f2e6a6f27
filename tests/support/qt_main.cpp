// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdio>

#include <QString>
#include <QtGlobal>

#ifdef SWAGE_TEST_WITHOUT_WIDGETS
#include <QCoreApplication>
#else
#include <QApplication>
#endif

#include "tests/support/no_warnings.h"

namespace {

// What Qt says about the machine rather than about the code under test.
bool isPlatformNoise(const QString& message) {
  return message.startsWith(QLatin1String("QStandardPaths: XDG_RUNTIME_DIR not set")) ||
         message.startsWith(QLatin1String("This plugin does not support"));  // the offscreen platform, of itself
}

void handleMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
  std::fprintf(stderr, "Qt: %s\n", message.toUtf8().constData());
  if (type != QtDebugMsg && type != QtInfoMsg && !isPlatformNoise(message)) {
    swage::testing::recordWarning("Qt: " + message.toStdString());
  }
}

}  // namespace

int main(int argc, char** argv) {
  qInstallMessageHandler(handleMessage);
#ifdef SWAGE_TEST_WITHOUT_WIDGETS
  const QCoreApplication application(argc, argv);
#else
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  const QApplication application(argc, argv);
#endif
  ::testing::InitGoogleMock(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new swage::testing::NoWarnings);
  return RUN_ALL_TESTS();
}
