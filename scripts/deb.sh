#!/usr/bin/env bash
# Builds the Debian package into target/debian/; with --test installs it on this machine (root), starts it, asks it for its
# health, stops it, purges it, and sees to it that nothing is left.
#   scripts/deb.sh [--test]
# Where systemd does not run, as in a container, the unit's own command line is run as its user, with its environment.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo_deb=^3

say() { printf 'deb: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

build() {
    if ! cargo deb --version >/dev/null 2>&1; then
        say "cargo install cargo-deb"
        cargo install --locked --quiet "cargo-deb@$cargo_deb"
    fi
    cargo build --release --locked
    rm -rf target/deb
    mkdir -p target/deb
    target/release/crokeye man target/deb/man
    target/release/crokeye completions bash >target/deb/crokeye.bash
    target/release/crokeye completions zsh >target/deb/_crokeye
    target/release/crokeye completions fish >target/deb/crokeye.fish
    rm -f target/debian/crokeye_*.deb
    cargo deb --no-build --quiet --fast --output target/debian/
    package=$(ls target/debian/crokeye_*.deb)
    say "$package: $(du -h "$package" | cut -f1)"
}

unit=/lib/systemd/system/crokeye.service

# What is there of the package, apart from what the system itself keeps of every package.
left() {
    local path
    while read -r path; do
        if [ -e "$path" ] && [ ! -d "$path" ]; then echo "$path"; fi
    done <target/deb/files
    for path in /etc/crokeye /etc/default/crokeye /var/lib/crokeye /usr/share/doc/crokeye \
        /etc/systemd/system/multi-user.target.wants/crokeye.service /var/lib/systemd/deb-systemd-helper-enabled/crokeye.service.dsh-also; do
        if [ -e "$path" ] || [ -L "$path" ]; then echo "$path"; fi
    done
    getent passwd crokeye || true
    getent group crokeye || true
    pgrep -u crokeye -a 2>/dev/null || true
}

# The service's answer to GET /healthz, waited for.
healthy() {
    local try
    for try in $(seq 1 100); do
        if curl --silent --fail "http://127.0.0.1:8080/healthz"; then return; fi
        sleep 0.2
    done
    fail "no answer after 20 s"
}

with_systemd() {
    systemctl is-active --quiet crokeye || fail "the service does not run: $(systemctl status crokeye)"
    healthy
    systemctl stop crokeye
    [ "$(systemctl show -p ExecMainStatus --value crokeye)" = 0 ] || fail "it did not end in order"
}

without_systemd() {
    say "systemd does not run here: its command line is run as the user of the unit"
    local user command folder
    user=$(sed -n 's/^User=//p' "$unit")
    command=$(sed -n 's/^ExecStart=//p' "$unit")
    folder=$(sed -n 's/^StateDirectory=//p' "$unit")
    install -d -o "$user" -g "$user" -m "$(sed -n 's/^StateDirectoryMode=//p' "$unit")" "/var/lib/$folder"
    local environment=() word words
    while read -r word; do environment+=("$word"); done < <(sed -n 's/^Environment=//p' "$unit")
    read -ra words <<<"$command"
    (cd "/var/lib/$folder" && exec setpriv --reuid "$user" --regid "$user" --groups video --no-new-privs \
        env -i PATH="$PATH" "${environment[@]}" "${words[@]}") &
    local process=$!
    healthy
    [ "$(stat -c %U "/proc/$process")" = "$user" ] || fail "it does not run as $user"
    kill -TERM "$process"
    wait "$process" || fail "it did not end in order"
}

check() {
    [ "$(id -u)" -eq 0 ] || fail "installing needs root: sudo scripts/deb.sh --test"
    if dpkg -s crokeye >/dev/null 2>&1 || getent passwd crokeye >/dev/null || [ -e /var/lib/crokeye ]; then
        fail "crokeye is installed here already, and is left alone: test on another machine"
    fi
    dpkg-deb -c "$package" | awk '{ print substr($6, 2) }' >target/deb/files
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "./$package" >/dev/null
    trap 'DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq crokeye >/dev/null 2>&1 || true' EXIT
    crokeye --version
    man --where crokeye-serve >/dev/null 2>&1 || [ -s /usr/share/man/man1/crokeye-serve.1.gz ] || fail "no manual"
    [ -s /usr/share/bash-completion/completions/crokeye ] || fail "no completions"
    crokeye config --config /etc/crokeye/crokeye.toml | grep -q '^port = 8080' || fail "no configuration"
    [ "$(stat -c '%U:%G %a' /etc/crokeye)" = "root:crokeye 750" ] || fail "/etc/crokeye is open to others"
    if command -v systemd-analyze >/dev/null; then
        systemd-analyze verify "$unit"
        systemd-analyze security --offline=true --no-pager --threshold=30 "$unit" | tail -1
    fi
    if [ -d /run/systemd/system ]; then with_systemd; else without_systemd; fi
    [ -s /var/lib/crokeye/crokeye-sample.db ] || [ -s /var/lib/crokeye/crokeye.db ] || fail "no database"
    DEBIAN_FRONTEND=noninteractive apt-get remove -y -qq crokeye >/dev/null
    [ -e /etc/crokeye/crokeye.toml ] && [ -d /var/lib/crokeye ] || fail "removing it took matches or configuration"
    DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq crokeye >/dev/null
    trap - EXIT
    [ -z "$(left)" ] || fail "left behind: $(left | tr '\n' ' ')"
    say "installed, started, stopped, purged: nothing is left"
}

build
if [ "${1:-}" = "--test" ]; then check; fi
