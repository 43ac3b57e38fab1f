#!/usr/bin/env bash
# Installs what crokeye needs to build: a C compiler, pkg-config, OpenCV's development files and clang (for its bindings).
# Quick and silent when all is there. On systems other than Debian and Ubuntu it prints the command and stops.
#   scripts/setup.sh           install what is missing
#   scripts/setup.sh --check   say what is missing, install nothing
#   scripts/setup.sh --test    install too what the tests need: of pages Chromium, Node and its driver, of network cameras
#                              ffmpeg and GStreamer's RTSP server, of MQTT the broker Mosquitto,
#                              of the API Schemathesis in an environment of its own, target/schemathesis
set -euo pipefail

packages=(build-essential pkg-config libopencv-dev clang libclang-dev)
oldest_rust=1.95

with_tests=""
if [ "${1:-}" = "--test" ]; then
    with_tests=yes
    packages+=(chromium ffmpeg python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good
        mosquitto python3-venv)
    # Node from elsewhere brings its own npm, which Debian's would replace.
    { command -v node && command -v npm; } >/dev/null || packages+=(nodejs npm)
fi

say() { printf 'setup: %s\n' "$*" >&2; }

libclang_there() {
    [ -n "$(find /usr/lib /usr/lib64 /opt/homebrew/opt/llvm/lib /usr/local/opt/llvm/lib -maxdepth 3 \
        \( -name 'libclang*.so*' -o -name 'libclang.dylib' \) -print -quit 2>/dev/null)" ]
}

missing() {
    { command -v cc && command -v c++; } >/dev/null || echo "a C and C++ compiler"
    command -v pkg-config >/dev/null || echo "pkg-config"
    { command -v pkg-config >/dev/null && pkg-config --exists opencv4; } || echo "OpenCV's development files"
    command -v clang >/dev/null || echo "clang"
    libclang_there || echo "libclang"
    if [ -n "$with_tests" ]; then
        chromium_there || echo "Chromium"
        { command -v node && command -v npm; } >/dev/null || echo "Node"
        command -v ffmpeg >/dev/null || echo "ffmpeg"
        rtsp_server_there || echo "GStreamer's RTSP server"
        python3 -c "import ensurepip" 2>/dev/null || echo "Python's venv"
        [ -x /usr/sbin/mosquitto ] || [ -x /usr/local/sbin/mosquitto ] || echo "Mosquitto"
    fi
}

chromium_there() {
    [ -n "${CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome >/dev/null
}

# The system's own Python: the package of its bindings serves no other.
rtsp_server_there() {
    /usr/bin/python3 "$(dirname "$0")/../tests/support/rtsp_server.py" --check >/dev/null 2>&1
}

# The driver of the browser and the checker of accessibility, as tests/browser/package-lock.json names them.
install_driver() {
    [ -z "$with_tests" ] && return
    local folder
    folder=$(dirname "$0")/../tests/browser
    [ -d "$folder/node_modules/playwright-core" ] && [ -d "$folder/node_modules/axe-core" ] && return
    say "npm ci in tests/browser"
    (cd "$folder" && npm ci --no-audit --no-fund --silent >&2)
}

# The maker of requests, as tests/schemathesis.txt names it.
install_schemathesis() {
    [ -z "$with_tests" ] && return
    local root=$(dirname "$0")/..
    local place=$root/target/schemathesis
    [ -x "$place/bin/schemathesis" ] && cmp -s "$root/tests/schemathesis.txt" "$place/installed.txt" && return
    say "pip install in target/schemathesis"
    python3 -m venv --clear "$place"
    "$place/bin/pip" install --quiet --disable-pip-version-check -r "$root/tests/schemathesis.txt" >&2
    cp "$root/tests/schemathesis.txt" "$place/installed.txt"
}

check_rust() {
    if ! command -v cargo >/dev/null; then
        say "cargo is missing: get Rust $oldest_rust or newer from https://rustup.rs, then run this again"
        exit 1
    fi
    local version
    version=$(rustc --version | cut -d' ' -f2)
    if [ "$(printf '%s\n%s\n' "$oldest_rust" "$version" | sort -V | head -n1)" != "$oldest_rust" ]; then
        say "Rust $version is too old: crokeye needs $oldest_rust or newer (rustup update stable)"
        exit 1
    fi
}

lacking=$(missing | paste -sd, - | sed 's/,/, /g')
if [ -z "$lacking" ]; then
    check_rust
    install_driver
    install_schemathesis
    exit 0
fi
say "missing: $lacking"
if [ "${1:-}" = "--check" ]; then
    exit 1
fi

system=$(uname -s)
family=""
if [ -r "${OS_RELEASE:=/etc/os-release}" ]; then
    . "$OS_RELEASE"
    family=" ${ID:-} ${ID_LIKE:-} "
fi
case "$system:$family" in
Linux:*" debian "* | Linux:*" ubuntu "*)
    sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "run as root: apt-get install ${packages[*]}"
            exit 1
        fi
        say "installing packages needs root: sudo may ask for your password"
        sudo=(sudo)
    fi
    say "apt-get install ${packages[*]}"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
    ;;
Linux:*" fedora "* | Linux:*" rhel "*)
    say "on Fedora: sudo dnf install gcc gcc-c++ pkgconf-pkg-config opencv-devel clang clang-devel"
    say "then run this again"
    exit 1
    ;;
Linux:*" arch "*)
    say "on Arch: sudo pacman -S --needed base-devel pkgconf opencv clang"
    say "then run this again"
    exit 1
    ;;
Darwin:*)
    say "on macOS: brew install opencv llvm pkg-config"
    say "then run this again"
    exit 1
    ;;
*)
    say "this system (${system}${ID:+, $ID}) is not known here. Install a C compiler, pkg-config, OpenCV 4 with"
    say "its development files, clang and libclang; or build the photo counter, which needs none of them but the"
    say "C compiler: cargo build --release --no-default-features"
    exit 1
    ;;
esac

still=$(missing | paste -sd, - | sed 's/,/, /g')
if [ -n "$still" ]; then
    say "still missing after installing: $still"
    exit 1
fi
check_rust
install_driver
install_schemathesis
say "all there"
