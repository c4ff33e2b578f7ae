#!/bin/sh
# Draws editor.png: Neovim with the shipped files and the language server, in a terminal on a screen that nobody sees.
# Needs neovim (0.10 or newer shows inlay hints, and colours in the hover), xvfb, xterm, imagemagick, fonts-dejavu and gcc of Debian,
# and `gslc` with pygls in .venv.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
display=:97
trap 'kill $terminal $screen 2>/dev/null; rm -rf "$work"' EXIT

PATH="$root/.venv/bin:$PATH"
export PATH
cp "$here/editor.gsl" "$work/rules.gsl"
grammar="$root/editors/tree-sitter-gslang"
mkdir -p "$work/vim/parser" "$work/vim/queries"
cc -shared -fPIC -O1 -I "$grammar/src" "$grammar/src/parser.c" -o "$work/vim/parser/gslang.so"
cp -r "$grammar/queries" "$work/vim/queries/gslang"

Xvfb $display -screen 0 1500x1000x24 >/dev/null 2>&1 &
screen=$!
sleep 1
cd "$work"
READY="$work/ready" EDITORS="$root/editors/vim,$work/vim" DISPLAY=$display xterm -geometry 127x40+0+0 -fa 'DejaVu Sans Mono' -fs 12 \
    -bg '#1b1f2a' -fg '#d5dae6' -b 10 -bw 0 +sb -e nvim -n -i NONE -u "$here/editor.lua" rules.gsl &
terminal=$!
tries=0
until [ -e "$work/ready" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { echo "editor.sh: Neovim did not show what it should" >&2; exit 1; }
    sleep 0.1
done
sleep 1
DISPLAY=$display import -window root "$work/shot.png"
# Without what is no terminal; 128 colours are enough for text, and small.
convert "$work/shot.png" -trim +repage -strip -colors 128 -define png:compression-level=9 "PNG8:$here/editor.png"
