#!/usr/bin/env bash
# Starman 0.4016 (Perl; Debian's starman 0.4016-1), and requests that are pipelined.
#
# The guess: it answers all of them, in order (RFC 9112, section 9.3.2). It says HTTP/1.1, keeps connections open, and its documentation lists
# pipelining. PUT is idempotent, so that a client may send another request behind it.
#
# What it does: it answers pipelined GETs, but a request that has come together with the body of a PUT is dropped, and gets no response.
# Seen, within 3 s:
#   GET, GET: 2 responses
#   PUT, then GET 300 ms later: 2 responses
#   PUT, GET: 1 response
#
# Needs Node 20 or later, Perl 5.36, and apt with Debian bookworm. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq starman=0.4016-1 libapache-logformat-compiler-perl libcgi-pm-perl libclass-inspector-perl libclone-perl libcommon-sense-perl \
  libcompress-raw-bzip2-perl libcompress-raw-zlib-perl libcookie-baker-perl libcpanel-json-xs-perl libdata-dump-perl \
  libdevel-stacktrace-ashtml-perl libdevel-stacktrace-perl libencode-locale-perl libencode-perl libfile-listing-perl \
  libfile-sharedir-perl libfilesys-notify-simple-perl libhash-multivalue-perl libhtml-parser-perl libhtml-tagset-perl \
  libhtml-tree-perl libhttp-cookies-perl libhttp-date-perl libhttp-entity-parser-perl libhttp-headers-fast-perl \
  libhttp-message-perl libhttp-multipartparser-perl libhttp-negotiate-perl libhttp-parser-xs-perl libhttp-tiny-perl \
  libio-html-perl libio-multiplex-perl libio-socket-inet6-perl libio-socket-ip-perl libio-socket-ssl-perl \
  libjson-maybexs-perl libjson-pp-perl libjson-xs-perl liblwp-mediatypes-perl liblwp-protocol-https-perl libnet-cidr-perl \
  libnet-http-perl libnet-server-perl libnet-server-ss-prefork-perl libnet-ssleay-perl libplack-perl \
  libposix-strftime-compiler-perl libregexp-ipv6-perl libserver-starter-perl libsocket-perl libsocket6-perl \
  libstream-buffered-perl libtest-sharedfork-perl libtest-tcp-perl libtimedate-perl libtry-tiny-perl \
  libtypes-serialiser-perl liburi-perl libwww-form-urlencoded-perl libwww-perl libwww-robotrules-perl
for package in *.deb; do
  dpkg -x "$package" .
done
cat > finding.psgi <<'PERL'
sub { [200, ['Content-Type' => 'text/plain'], ["hello\n"]] };
PERL
export PERL5LIB="$work/usr/share/perl5:$work/usr/lib/x86_64-linux-gnu/perl5/5.36"
perl usr/bin/starman --workers 2 --listen "$work/starman.sock" finding.psgi > log 2>&1 &
server=$!
for _ in $(seq 100); do
  if [ -S starman.sock ] || ! kill -0 "$server" 2> /dev/null; then break; fi
  sleep 0.1
done
[ -S starman.sock ] || { cat log; echo 'Starman has not started.'; exit 1; }
cat > client.js <<'JS'
const { connect } = require('node:net');
const get = 'GET / HTTP/1.1\r\nHost: finding\r\n\r\n';
const put = 'PUT / HTTP/1.1\r\nHost: finding\r\nContent-Length: 4\r\n\r\nbody';
const send = (what, ...parts) => new Promise((resolve, reject) => {
  let text = '';
  const socket = connect('starman.sock').on('error', reject).on('data', data => { text += data; });
  parts.forEach((part, i) => setTimeout(() => socket.write(part), 300 * i));
  setTimeout(() => {
    const count = text.split('HTTP/1.1 200').length - 1;
    console.log(`${what}: ${count} response${count === 1 ? '' : 's'}`);
    socket.destroy();
    resolve();
  }, 3000);
});
(async () => {
  await send('GET, GET', get + get);
  await send('PUT, then GET 300 ms later', put, get);
  await send('PUT, GET', put + get);
})();
JS
node client.js > seen || { cat log; exit 1; }
cat seen
diff seen - <<'EXPECTED' || { cat log; exit 1; }
GET, GET: 2 responses
PUT, then GET 300 ms later: 2 responses
PUT, GET: 1 response
EXPECTED
