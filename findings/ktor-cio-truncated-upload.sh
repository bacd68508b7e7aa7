#!/usr/bin/env bash
# Ktor 3.6.1 with its own engine, CIO (Maven Central, io.ktor:ktor-server-cio-jvm), and an upload that breaks off.
#
# The guess: the handler gets an exception where the body ends too early, since RFC 9112, section 8, calls such a message incomplete: fewer
# bytes than Content-Length says, or no last chunk. So it does not take half of a file for a whole one.
#
# What it does: receiveText returns what has come, as if it were the whole body, if the client ends its side of the connection in order.
# That holds for a length, and for chunks between two of them. Only within a chunk it fails. Seen, by the handler, for the body "hello
# world" of which "hello" is sent:
#   with a length, whole: hello world
#   with a length, broken off: hello
#   chunks, whole: hello world
#   chunks, broken off behind one: hello
#   chunks, broken off within one: ClosedByteChannelException
#
# Needs Node 20 or later, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
for part in compiler:org.jetbrains.kotlin:kotlin-compiler-embeddable:2.4.0 server:io.ktor:ktor-server-cio-jvm:3.6.1; do
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
cat > Finding.kt <<'KOTLIN'
import io.ktor.server.cio.CIO
import io.ktor.server.engine.embeddedServer
import io.ktor.server.request.receiveText
import io.ktor.server.response.respondText
import io.ktor.server.routing.post
import io.ktor.server.routing.routing
import java.io.File
import kotlinx.coroutines.runBlocking

fun main() {
    val server = embeddedServer(CIO, port = 0, host = "127.0.0.1") {
        routing {
            post("/{name}") {
                val read = try { call.receiveText() } catch (e: Exception) { e.javaClass.simpleName }
                File("${call.parameters["name"]}.part").writeText(read)
                File("${call.parameters["name"]}.part").renameTo(File(call.parameters["name"]!!))
                call.respondText(read)
            }
        }
    }.start()
    File("port").writeText(runBlocking { server.engine.resolvedConnectors() }.first().port.toString())
    Thread.currentThread().join()
}
KOTLIN
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat compiler/classpath)" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -cp "$(cat server/classpath)" \
  Finding.kt > log 2>&1 || { cat log; exit 1; }
"$java" -cp ".:$(cat server/classpath)" FindingKt > log 2>&1 &
server=$!
for _ in $(seq 300); do
  if [ -s port ] || ! kill -0 "$server" 2> /dev/null; then break; fi
  sleep 0.1
done
[ -s port ] || { cat log; echo 'The server has not started.'; exit 1; }
cat > client.js <<'JS'
const { connect } = require('node:net');
const fs = require('node:fs');
let count = 0;
/** What the handler has read of a request whose client closes the connection half a second after it was sent. */
const upload = async (what, framing, body) => {
  const name = `upload${++count}`;
  const socket = connect(+process.argv[2], '127.0.0.1').on('error', () => {}).resume();
  socket.write(`POST /${name} HTTP/1.1\r\nHost: finding\r\n${framing}\r\n\r\n${body}`);
  setTimeout(() => socket.end(), 500);
  for (let i = 0; i < 50 && !fs.existsSync(name); i++) await new Promise(resolve => setTimeout(resolve, 100));
  console.log(`${what}: ${fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : 'nothing in 5 s'}`);
};
(async () => {
  const chunked = 'Transfer-Encoding: chunked';
  await upload('with a length, whole', 'Content-Length: 11', 'hello world');
  await upload('with a length, broken off', 'Content-Length: 11', 'hello');
  await upload('chunks, whole', chunked, '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n');
  await upload('chunks, broken off behind one', chunked, '5\r\nhello\r\n');
  await upload('chunks, broken off within one', chunked, 'b\r\nhello');
  process.exit();
})();
JS
node client.js "$(cat port)" > seen || { cat log; exit 1; }
cat seen
diff seen - <<'EXPECTED'
with a length, whole: hello world
with a length, broken off: hello
chunks, whole: hello world
chunks, broken off behind one: hello
chunks, broken off within one: ClosedByteChannelException
EXPECTED
