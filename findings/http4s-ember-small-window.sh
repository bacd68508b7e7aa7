#!/usr/bin/env bash
# http4s' Ember 0.23.37 (Maven Central, org.http4s:http4s-ember-server_3), a server of HTTP/2, and clients that announce different values of
# SETTINGS_INITIAL_WINDOW_SIZE.
#
# The guess: this setting limits what the server may send in a response before the client reads it. How much a client may upload is for
# the server's own setting, and for its WINDOW_UPDATE frames.
#
# What it does: the window of the connection, for what it receives, changes with the value of the client. For 16,384 the server sends a
# WINDOW_UPDATE of 2,147,467,265 for the connection during the first upload. During a longer one, the same and then one of 0, which RFC 9113,
# section 6.9, makes an error of the connection. With 65,535 or more both work. Seen, for an upload of 60,000 bytes and one of
# 300,000, each on a connection of its own:
#   16384: received 60000 (updates: 2147467265), Protocol error (updates: 2147467265, 0)
#   65535: received 60000, received 300000
#   1048576: received 60000, received 300000
#
# Needs Node 20 or later, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
for part in compiler:org.scala-lang:scala3-compiler_3:3.3.6 server:org.http4s:http4s-ember-server_3:0.23.37; do
  IFS=: read -r folder group artifact version <<< "$part"
  mkdir "$folder"
  cat > "$folder/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
POM
  mvn -B -ntp -q -f "$folder" org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
done
cat > Finding.scala <<'SCALA'
import cats.effect.{ExitCode, IO, IOApp}
import com.comcast.ip4s.*
import java.nio.file.{Files, Path}
import org.http4s.{HttpApp, Response}
import org.http4s.ember.server.EmberServerBuilder

object Finding extends IOApp:
  def run(arguments: List[String]) =
    val app = HttpApp[IO](request => request.body.compile.count.map(n => Response[IO]().withEntity(s"received $n")))
    EmberServerBuilder.default[IO].withHost(ipv4"127.0.0.1").withPort(port"0").withHttp2.withHttpApp(app).build
      .use(server => IO(Files.writeString(Path.of("port"), server.address.getPort.toString)) *> IO.never).as(ExitCode.Success)
SCALA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat compiler/classpath)" dotty.tools.dotc.Main -classpath "$(cat server/classpath)" Finding.scala > log 2>&1 || { cat log; exit 1; }
"$java" -cp ".:$(cat server/classpath)" Finding > log 2>&1 &
server=$!
for _ in $(seq 300); do
  if [ -s port ] || ! kill -0 "$server" 2> /dev/null; then break; fi
  sleep 0.1
done
[ -s port ] || { cat log; echo 'The server has not started.'; exit 1; }
cat > client.js <<'JS'
const http2 = require('node:http2');
const { Duplex } = require('node:stream');
/** A connection that keeps the bytes that have come in it. */
const connection = received => {
  const socket = require('node:net').connect(+process.argv[2], '127.0.0.1');
  const duplex = new Duplex({
    read() {},
    write: (data, encoding, done) => socket.write(data, done),
    final: done => socket.end(done),
    destroy: (error, done) => { socket.destroy(); done(error); },
  });
  socket.on('error', e => duplex.destroy(e)).on('end', () => duplex.push(null));
  socket.on('data', data => { received.push(data); duplex.push(data); });
  return duplex;
};
/** The values of the WINDOW_UPDATE frames (type 8) of the connection (stream 0). */
const windowUpdates = bytes => {
  const values = [];
  for (let i = 0; i + 13 <= bytes.length; i += 9 + bytes.readUIntBE(i, 3)) {
    if (bytes[i + 3] === 8 && bytes.readUInt32BE(i + 5) === 0) values.push(bytes.readUInt32BE(i + 9));
  }
  return values;
};
const upload = (initialWindowSize, size) => new Promise(resolve => {
  const received = [];
  const session = http2.connect('http://finding', { settings: { initialWindowSize }, createConnection: () => connection(received) });
  const end = result => {
    clearTimeout(timer);
    const updates = windowUpdates(Buffer.concat(received));
    resolve(result + (updates.some(value => value === 0 || value > 0x7fff0000) ? ` (updates: ${updates.join(', ')})` : ''));
    session.destroy();
  };
  const timer = setTimeout(() => end('nothing in 5 s'), 5000);
  session.on('error', e => end(e.message));
  const stream = session.request({ ':method': 'POST', ':path': '/' });
  let text = '';
  stream.on('error', e => end(e.message)).on('data', data => { text += data; }).on('end', () => end(text));
  stream.end(Buffer.alloc(size));
});
(async () => {
  for (const window of [16384, 65535, 1048576]) console.log(`${window}: ${await upload(window, 60000)}, ${await upload(window, 300000)}`);
})();
JS
node client.js "$(cat port)" > seen || { cat log; exit 1; }
cat seen
diff seen - <<'EXPECTED'
16384: received 60000 (updates: 2147467265), Protocol error (updates: 2147467265, 0)
65535: received 60000, received 300000
1048576: received 60000, received 300000
EXPECTED
