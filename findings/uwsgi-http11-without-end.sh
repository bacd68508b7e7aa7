#!/usr/bin/env bash
# uwsgi 2.0.21 (Debian bookworm's uwsgi-core and uwsgi-plugin-python3 2.0.21-5.1), --http11-socket, and a response of unknown length.
#
# The guess: to an HTTP/1.1 client it sends a stream in chunks, or ends it by closing the connection, as --http-socket does; at the latest
# if the client sent "Connection: close".
#
# What it does: no Content-Length, no chunks, and the connection stays open for a further request, so that the client, or the proxy in
# between, cannot see the end. It waits for --socket-timeout (4 s by default), with "Connection: close", too. Only an HTTP/1.0 client sees
# the end at once. Seen, with an application that sends 20 bytes in two parts:
#   --http-socket, HTTP/1.1: 20 bytes, at once
#   --http11-socket, HTTP/1.1: 20 bytes, after 4 s
#   --http11-socket, HTTP/1.1, Connection: close: 20 bytes, after 4 s
#   --http11-socket --socket-timeout 2, HTTP/1.1: 20 bytes, after 2 s
#   --http11-socket, HTTP/1.0: 20 bytes, at once
#
# Needs curl, python3, and apt with Debian bookworm. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
stop() { [[ -z $server ]] || { kill -INT "$server" 2> /dev/null; wait "$server" || true; server=; }; }
trap 'stop; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq uwsgi-core=2.0.21-5.1 uwsgi-plugin-python3=2.0.21-5.1 libmatheval1 libjansson4
for package in *.deb; do
  dpkg -x "$package" .
done
cat > app.py <<'PYTHON'
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return iter([b'0123456789', b'0123456789'])
PYTHON
export LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu
row() { # NAME OPTIONS... -- curl's options
  local name=$1 port options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  usr/bin/uwsgi-core --plugins-dir usr/lib/uwsgi/plugins --plugin python3 --wsgi-file app.py --disable-logging --die-on-term \
    "${options[0]}" "127.0.0.1:$port" "${options[@]:1}" > log 2>&1 &
  server=$!
  until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do kill -0 $server || exit 1; sleep 0.2; done
  sleep 6       # until the connection of that attempt has timed out
  curl -s "$@" -o body -w '%{size_download} %{time_total}\n' "http://127.0.0.1:$port/" \
    | awk -v name="$name" '{ print name ": " $1 " bytes, " ($2 < 1 ? "at once" : "after " int($2) " s") }'
  stop
}
{
  row "--http-socket, HTTP/1.1" --http-socket --
  row "--http11-socket, HTTP/1.1" --http11-socket --
  row "--http11-socket, HTTP/1.1, Connection: close" --http11-socket -- -H 'Connection: close'
  row "--http11-socket --socket-timeout 2, HTTP/1.1" --http11-socket --socket-timeout 2 --
  row "--http11-socket, HTTP/1.0" --http11-socket -- --http1.0
} > seen
cat seen
diff seen - <<'EXPECTED'
--http-socket, HTTP/1.1: 20 bytes, at once
--http11-socket, HTTP/1.1: 20 bytes, after 4 s
--http11-socket, HTTP/1.1, Connection: close: 20 bytes, after 4 s
--http11-socket --socket-timeout 2, HTTP/1.1: 20 bytes, after 2 s
--http11-socket, HTTP/1.0: 20 bytes, at once
EXPECTED
