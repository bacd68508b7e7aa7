#!/usr/bin/env bash
# unicorn 6.1.0 and puma 8.0.2 (Ruby; Debian's unicorn 6.1.0+git.20250131.1370f52-2 and puma 8.0.2-3), and a body that fails.
#
# The guess: if the body of a response raises while it is sent, such as when a file or a database is read, the server closes the
# connection. The client sees that the body is cut, as its last chunk is missing, or bytes of its length.
#
# What unicorn does: it sends the last chunk all the same, and behind it a second response, 500. So a download that is cut seems complete,
# to curl as to a cache. With a Content-Length the text of that 500 is a part of the body, which is complete if no more than
# its 38 bytes were missing. puma does as guessed. Seen, with a body that fails after 1,000 bytes:
#   puma, chunked: 1000 bytes, curl's exit code 18
#   puma, Content-Length: 1038: 1000 bytes, curl's exit code 18
#   unicorn, chunked: 1000 bytes, curl's exit code 0
#   unicorn, Content-Length: 1038: 1038 bytes, curl's exit code 0, ends with "HTTP/1.1 500 Internal Server Error"
#
# Needs Ruby 3.3, curl, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq unicorn=6.1.0+git.20250131.1370f52-2 puma=8.0.2-3 ruby-nio4r ruby-raindrops ruby-kgio ruby-rack
for package in *.deb; do
  dpkg -x "$package" .
done
cat > config.ru <<'RUBY'
class Body
  def each
    yield 'x' * 1000
    raise IOError, 'the disk has gone'
  end
end
run(lambda do |env|
  length = env['PATH_INFO'] == '/length' ? { 'content-length' => '1038' } : {}
  [200, { 'content-type' => 'text/plain' }.merge(length), Body.new]
end)
RUBY
gems=usr/lib/x86_64-linux-gnu/rubygems-integration
export GEM_PATH=$work/$gems/3.3.0:$work/usr/share/rubygems-integration/all
export RUBYLIB=$work/usr/lib/ruby/vendor_ruby:$work/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.3.0
request() {
  local code=0 last=
  curl -s -o body "http://127.0.0.1:$port$2" || code=$?
  last=$(tail -c 60 body | tr -d '\r' | sed -n 's/^x*\(HTTP.*\)/, ends with "\1"/p')
  echo "$1: $(wc -c < body) bytes, curl's exit code $code$last" >> seen
}
try() {
  port=$(ruby -rsocket -e 'puts TCPServer.new("127.0.0.1", 0).addr[1]')
  "${@:2}$port" config.ru > log 2>&1 &
  server=$!
  until curl -s -o body "http://127.0.0.1:$port/" || [ $? -ne 7 ]; do sleep 0.2; done
  request "$1, chunked" /
  request "$1, Content-Length: 1038" /length
  kill "$server"
}
try puma ruby usr/bin/puma -e production -b tcp://127.0.0.1:
try unicorn ruby usr/bin/unicorn -E none -l 127.0.0.1:
cat seen
diff seen - <<'EXPECTED'
puma, chunked: 1000 bytes, curl's exit code 18
puma, Content-Length: 1038: 1000 bytes, curl's exit code 18
unicorn, chunked: 1000 bytes, curl's exit code 0
unicorn, Content-Length: 1038: 1038 bytes, curl's exit code 0, ends with "HTTP/1.1 500 Internal Server Error"
EXPECTED
