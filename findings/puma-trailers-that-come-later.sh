#!/usr/bin/env bash
# puma 8.0.2 (Ruby; Debian's puma 8.0.2-3), and a request whose chunked body has trailers.
#
# The guess: puma ignores trailers, as of a request that comes whole. How a request is cut into pieces on its way makes no difference.
#
# What it does: if what has come ends with the last chunk, and the trailers come later, puma drops their first two bytes, where it expects
# the empty line, and reads the rest as a chunk: 400. So a request fails where TCP or a proxy happens to cut it there. Seen, for the body
# and its trailer:
#   in one piece: 200, 5 bytes
#   the last chunk and the trailer in two pieces: 400, Invalid chunk size: 'ecksum: 1'
#   no trailer, the last chunk and the empty line in two pieces: 200, 5 bytes
#
# Needs Ruby 3.3, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puma=8.0.2-3 ruby-nio4r ruby-rack
for package in *.deb; do
  dpkg -x "$package" .
done
cat > config.ru <<'RUBY'
run ->(env) { [200, {}, ["#{env['rack.input'].read.bytesize} bytes"]] }
RUBY
cat > client.rb <<'RUBY'
require 'socket'
HEAD = "POST / HTTP/1.1\r\nHost: finding\r\nConnection: close\r\nTrailer: Checksum\r\nTransfer-Encoding: chunked\r\n\r\n"
{
  'in one piece' => ["5\r\nhello\r\n0\r\nChecksum: 1\r\n\r\n"],
  'the last chunk and the trailer in two pieces' => ["5\r\nhello\r\n0\r\n", "Checksum: 1\r\n\r\n"],
  'no trailer, the last chunk and the empty line in two pieces' => ["5\r\nhello\r\n0\r\n", "\r\n"]
}.each do |name, pieces|
  socket = UNIXSocket.new('puma.sock')
  socket.write(HEAD)
  pieces.each do |piece|
    sleep 1
    socket.write(piece)
  end
  head, body = socket.read.split("\r\n\r\n", 2)
  puts "#{name}: #{head[9, 3]}, #{body[/Invalid chunk size: '[^']*'/] || body}"
end
RUBY
export GEM_PATH=$work/usr/lib/x86_64-linux-gnu/rubygems-integration/3.3.0:$work/usr/share/rubygems-integration/all
export RUBYLIB=$work/usr/lib/ruby/vendor_ruby:$work/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.3.0
ruby usr/bin/puma --quiet --bind "unix://$work/puma.sock" config.ru > log 2>&1 &
server=$!
for _ in $(seq 300); do
  [ -S puma.sock ] || sleep 0.1
done
ruby client.rb > seen || { cat log; exit 1; }
cat seen
diff seen - <<'EXPECTED'
in one piece: 200, 5 bytes
the last chunk and the trailer in two pieces: 400, Invalid chunk size: 'ecksum: 1'
no trailer, the last chunk and the empty line in two pieces: 200, 5 bytes
EXPECTED
