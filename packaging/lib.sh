# SPDX-License-Identifier: Apache-2.0
# Shared by packaging/run and packaging/test: makes sure of packages, the Python environment and the build.
# Sourced with `set -euo pipefail` in force. Nothing here asks a question unless a terminal is there to answer it.

SWAGE_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
SWAGE_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/swage
readonly SWAGE_ROOT SWAGE_CACHE

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE HINT: one clear message and the exit code for an unusable environment.
fail() {
  say "error: $1"
  say "hint: $2"
  exit 5
}

# --- apt packages -----------------------------------------------------------------------------------------------

missing_packages() {
  local package
  grep -v '^#' "$SWAGE_ROOT/packaging/apt-packages.txt" | while read -r package; do
    if [[ -n $package && $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) != *' ok installed' ]]; then
      printf '%s\n' "$package"
    fi
  done
}

# as_root COMMAND…: as it is for root, else by a sudo that cannot hang.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    sudo "$@"  # ensure_packages has checked that a person can answer
  fi
}

can_be_root() {
  [[ $(id -u) == 0 ]] && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null || [[ -t 0 && -t 2 ]]
}

ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian system: the packages of packaging/apt-packages.txt are expected to be there under other names."
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ! can_be_root; then
    fail "these packages are missing and only root can install them: ${missing[*]}" \
      "as root: apt-get install --no-install-recommends ${missing[*]}"
  fi
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  say "Packages to install: ${missing[*]}"
  as_root "${apt[@]}" update >&2 || say "The package lists could not be updated; trying with those that are there."
  # apt-get says how much it will fetch and unpack, and stops there.
  LC_ALL=C apt-get install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null |
    grep -E '^(Need to get|After this operation)' >&2 || true
  as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
    fail "the packages could not be installed: ${missing[*]}" "see the messages of apt-get above; the network may be down"
}

# --- the Python environment -------------------------------------------------------------------------------------

has_nvidia_driver() {
  [[ -e /proc/driver/nvidia/version ]] || [[ $(ldconfig -p 2>/dev/null) == *libcuda.so.1* ]]
}

# venv_for LOCK: the folder of the environment that a lock file describes.
venv_for() {
  local python
  python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  printf '%s/venv-%s\n' "$SWAGE_CACHE" "$({ cat "$1"; printf '%s %s\n' "$python" "$(uname -m)"; } | sha256sum | cut -c1-12)"
}

# A folder without this file was left behind half made.
is_complete() { [[ -e $1/.swage-complete && -x $1/bin/python ]]; }

# Whether the package index in force offers PyTorch's CPU build.
index_has_cpu_build() {
  local torch
  torch=$(grep '^torch==' "$SWAGE_ROOT/packaging/requirements-cpu.lock")
  "$1/bin/python" -m pip install --quiet --dry-run --no-deps "$torch" >/dev/null 2>&1
}

# make_venv LOCK FOLDER MODULES: with the modules that must be there afterwards, separated by commas.
make_venv() {
  local lock=$1 folder=$2 modules=$3
  rm -rf -- "$folder"
  python3 -m venv "$folder" || fail "cannot create a Python environment in $folder" "install python3-venv"
  "$folder/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off -r "$lock" >&2 ||
    fail "the Python packages of $lock could not be installed" "see the messages of pip above; the network may be down"
  "$folder/bin/python" -c "import $modules" ||
    fail "Python cannot import $modules in $folder" "remove that folder and run this again"
  touch "$folder/.swage-complete"
}

need_space() {
  local gigabytes=$1 free
  free=$(df --output=avail -BG "$SWAGE_CACHE" | tail -1 | tr -dc '0-9')
  ((free >= gigabytes)) || fail "$SWAGE_CACHE has $free GB free, $gigabytes GB are needed" "set XDG_CACHE_HOME to a larger disk"
}

# Sets SWAGE_VENV. Prefers PyTorch's CPU build where there is no NVIDIA driver and the index offers it.
ensure_venv() {
  local with_cuda=$SWAGE_ROOT/packaging/requirements.lock without=$SWAGE_ROOT/packaging/requirements-cpu.lock lock
  mkdir -p "$SWAGE_CACHE" || fail "cannot create $SWAGE_CACHE" "set XDG_CACHE_HOME to a folder that you may write"
  exec {venv_lock}>"$SWAGE_CACHE/venv.lock"
  flock -n "$venv_lock" || { say "Waiting for another run that makes the Python environment."; flock "$venv_lock"; }
  local candidates=("$with_cuda")
  has_nvidia_driver || candidates=("$without" "$with_cuda")
  for lock in "${candidates[@]}"; do
    SWAGE_VENV=$(venv_for "$lock")
    is_complete "$SWAGE_VENV" && break
    SWAGE_VENV=
  done
  if [[ -z $SWAGE_VENV ]]; then
    lock=$(choose_lock "${candidates[@]}")
    SWAGE_VENV=$(venv_for "$lock")
    if [[ $lock == "$without" ]]; then
      say "Python environment to create: $SWAGE_VENV (PyTorch for CPUs and NVRTC: about 0.4 GB to fetch, 1.3 GB on disk)"
      need_space 3
    else
      say "Python environment to create: $SWAGE_VENV (PyTorch with CUDA: about 2.8 GB to fetch, 4.8 GB on disk)"
      need_space 9
    fi
    make_venv "$lock" "$SWAGE_VENV" 'torch, numpy, safetensors'
  fi
  exec {venv_lock}>&-
  export SWAGE_VENV
}

# Sets SWAGE_TEST_VENV: what tests talk to the programs with, and no user needs. Its folder is not called venv-*, which is
# where programs look for PyTorch.
ensure_test_venv() {
  local lock=$SWAGE_ROOT/packaging/requirements-test.lock
  mkdir -p "$SWAGE_CACHE" || fail "cannot create $SWAGE_CACHE" "set XDG_CACHE_HOME to a folder that you may write"
  exec {test_venv_lock}>"$SWAGE_CACHE/test-venv.lock"
  flock "$test_venv_lock"
  SWAGE_TEST_VENV=$SWAGE_CACHE/test-$(basename -- "$(venv_for "$lock")")
  if ! is_complete "$SWAGE_TEST_VENV"; then
    say "Python environment of the tests to create: $SWAGE_TEST_VENV (about 20 MB to fetch, 70 MB on disk)"
    need_space 1
    make_venv "$lock" "$SWAGE_TEST_VENV" mcp
  fi
  exec {test_venv_lock}>&-
  export SWAGE_TEST_VENV
}

# Prints the first lock file of those given that the index can serve; the last one is not asked for.
choose_lock() {
  if (($# == 1)); then
    printf '%s\n' "$1"
    return
  fi
  local probe
  probe=$(mktemp -d)
  if python3 -m venv "$probe" && index_has_cpu_build "$probe"; then
    printf '%s\n' "$1"
  else
    printf '%s\n' "${@: -1}"
  fi
  rm -rf -- "$probe"
}

# --- the build --------------------------------------------------------------------------------------------------

# The heaviest files take about 2 GB of memory each to compile.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  printf '%s\n' "$((cores < memory ? cores : memory))"
}

# build_preset NAME [TARGET…]: all targets when none is named.
build_preset() {
  export CCACHE_DIR=${CCACHE_DIR:-$SWAGE_CACHE/ccache}
  # Paths relative to the checkout, so that another checkout of the same sources finds the objects.
  export CCACHE_BASEDIR=$SWAGE_ROOT CCACHE_NOHASHDIR=1
  local log=$SWAGE_ROOT/build/$1.configure.log
  mkdir -p "$SWAGE_ROOT/build"
  say "Building into build/$1"
  (cd "$SWAGE_ROOT" && cmake --preset "$1" >"$log" 2>&1) || {
    tail -n 40 "$log" >&2
    fail "CMake cannot configure the build (preset $1)" "the whole output is in $log"
  }
  local targets=("${@:2}")
  cmake --build "$SWAGE_ROOT/build/$1" -j "$(build_jobs)" ${targets:+--target "${targets[@]}"} >&2 ||
    fail "the build failed (preset $1)" "see the compiler's messages above"
}

# prepare PRESET [TARGET…]
prepare() {
  ensure_packages
  ensure_venv
  build_preset "$@"
}
