#!/usr/bin/env bash
# mu-server 2.2.7 (Maven Central, io.muserver:mu-server), and a chunk with an extension.
#
# The guess: it ignores extensions, as RFC 9112, section 7.1.1, requires for those that a server does not know, or refuses the request.
#
# What it does: at a chunk whose extension has a value without quotes ("5;a=b") the body ends for the handler, as if it were whole. Netty's
# decoder below it (4.1.132) fails there with InvalidChunkExtensionException, although the value may be a token, and mu-server does not
# look at the failure. Extensions without a value, or with one in quotes, are ignored. Seen, for a body of the chunks "one", "two" (with
# the extension) and "three":
#   no extension: onetwothree
#   ;a: onetwothree
#   ;a="b": onetwothree
#   ;a=b: one
#
# Needs Node 20 or later, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.muserver</groupId><artifactId>mu-server</artifactId><version>2.2.7</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import io.muserver.MuServerBuilder;
import java.nio.file.Files;
import java.nio.file.Path;

public class Finding {
  public static void main(String[] args) throws Exception {
    var server = MuServerBuilder.httpServer().withInterface("127.0.0.1").addHandler((request, response) -> {
      response.write(request.readBodyAsString());
      return true;
    }).start();
    Files.writeString(Path.of("port"), String.valueOf(server.uri().getPort()));
  }
}
JAVA
"${JAVA_HOME:+$JAVA_HOME/bin/}java" -cp "$(cat classpath)" Finding.java > log 2>&1 &
server=$!
while [ ! -s port ] && kill -0 "$server"; do sleep 0.1; done
cat > client.js <<'JS'
const { connect } = require('node:net');
const send = extension => new Promise((resolve, reject) => {
  let text = '';
  const socket = connect(+process.argv[2], '127.0.0.1').on('error', reject);
  socket.on('data', data => text += data).on('end', () => {
    console.log(`${extension || 'no extension'}: ${text.slice(text.indexOf('\r\n\r\n') + 4)}`);
    resolve();
  });
  socket.write('POST / HTTP/1.1\r\nHost: finding\r\nConnection: close\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n'
      + `3\r\none\r\n3${extension}\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n`);
});
(async () => { for (const extension of ['', ';a', ';a="b"', ';a=b']) await send(extension); })();
JS
node client.js "$(cat port)" > seen || { cat log; exit 1; }
cat seen
diff seen - <<'EXPECTED'
no extension: onetwothree
;a: onetwothree
;a="b": onetwothree
;a=b: one
EXPECTED
