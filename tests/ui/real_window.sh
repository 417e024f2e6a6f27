#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test program on an X server of its own. 77: this machine has none.
#   real_window.sh PROGRAM [ARGUMENT …]
set -eu

for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed (apt install xvfb xdotool)"; exit 77; }
done

work=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT INT TERM

mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp -noreset -fbdir "$work" 3>"$work/display" 2>"$work/log" &
server=$!
# Xvfb writes the number of the display it found free once it accepts connections.
read -r number <"$work/display" || { cat "$work/log"; exit 1; }

# The window of a test talks to no desktop.
DBUS_SESSION_BUS_ADDRESS=disabled: XDG_RUNTIME_DIR="$work" DISPLAY=":$number" QT_QPA_PLATFORM=xcb \
  SWAGE_SCREEN="$work/Xvfb_screen0" "$@"
