# Sourced by scripts at their beginning: `usage`, `need`, and the directory `ROOT`. Answers --help.

ROOT=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
SCRIPT=$(realpath "$0")

# Prints the comment at the top of the script.
explain() {
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$SCRIPT"
}

# Ends a script with wrong arguments.
usage() {
    explain >&2
    exit 2
}

# need TOOL: fails with a hint if a tool is not installed.
need() {
    command -v "$1" >/dev/null && return
    case $1 in
        apt-get | dpkg-source) hint="apt install dpkg-dev, on Debian" ;;
        c++) hint="apt install g++" ;;
        cargo) hint="see https://rustup.rs" ;;
        cargo-deb) hint="cargo install cargo-deb" ;;
        cargo-deny) hint="cargo install cargo-deny" ;;
        clippy-driver) hint="rustup component add clippy" ;;
        git) hint="apt install git" ;;
        musl-gcc) hint="apt install musl-tools" ;;
        python3) hint="apt install python3 python3-venv" ;;
        *) hint="see $0 --help" ;;
    esac
    echo "$(basename "$0"): $1 is not installed: $hint" >&2
    exit 2
}

case ${1:-} in -h | --help) explain && exit ;; esac
