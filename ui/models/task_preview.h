// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace swage::ui {

// What a task is, without running any of it.
struct TaskPreview {
  QString description;  // the first line of the file's documentation
  QString source;       // of its Python file, at most 256 KiB
  // "float32 [2048, 1024]". Of a bundle as it was imported; of a Python file as get_inputs() says, with the constants
  // of the file put in. What cannot be told without running the file stays as it is written.
  QStringList inputs;
  QString obstacle;  // why there is nothing to read; empty: there is
};

// Reads files: a bundle, FILE.py or FILE.py:Class.
[[nodiscard]] TaskPreview readTaskPreview(const QString& task);

}  // namespace swage::ui
