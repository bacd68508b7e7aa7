#!/usr/bin/env bash
# A Host header that the user sets, in HTTP/2: java.net.http.HttpClient (JDK 25) and nghttp and h2load (nghttp2-client, Debian 12: 1.52).
#
# The guess: as in HTTP/1.1, the header replaces the host of the URL. In HTTP/2 that is ":authority"; RFC 9113, section 8.3.1, forbids
# clients to send a Host that differs from it, and lets servers reject the request as malformed.
#
# What they do: both are sent, and differ. The JDK needs jdk.httpclient.allowRestrictedHeaders=host for it, which is enough for HTTP/1.1,
# and it chooses HTTP/2 by itself where the server offers it. So the request goes to the virtual host of the URL, or is reset. Seen:
#   curl: :authority=shop.example host=undefined
#   node: :authority=undefined host=shop.example
#   nghttp: :authority=localhost:PORT host=shop.example
#   h2load: :authority=localhost:PORT host=shop.example
#   jdk HTTP_2: :authority=localhost:PORT host=shop.example
#   jdk HTTP_1_1: :authority=undefined host=shop.example
#
# Needs Node 20 or later, a JDK 25 in JAVA_HOME or the PATH, curl, openssl, and Debian's nghttp2-client. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d)
trap 'kill $server || true; rm -rf "$work"' EXIT
cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
  -keyout key.pem -out certificate.pem 2> /dev/null
cat > server.js <<'JS'
const fs = require('fs');
const http2 = require('http2');
const seen = (request, response) => {
  const {headers} = request;
  console.log(`${headers['user-agent']}: :authority=${String(headers[':authority']).replace(/:\d+/, ':PORT')} host=${headers.host}`);
  response.end('ok');
};
const plain = http2.createServer(seen).listen(0, () => {
  const tls = http2.createSecureServer({allowHTTP1: true, key: fs.readFileSync('key.pem'), cert: fs.readFileSync('certificate.pem')}, seen)
      .listen(0, () => fs.writeFileSync('ports', `${plain.address().port} ${tls.address().port}\n`));
});
JS
cat > Client.java <<'JAVA'
import java.io.FileInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Client {
  public static void main(String[] args) throws Exception {
    var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null);
    trusted.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream("certificate.pem")));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    var tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
    for (var version : HttpClient.Version.values()) {
      if (version.name().equals("HTTP_1_1") || version.name().equals("HTTP_2")) {
        try (var client = HttpClient.newBuilder().sslContext(tls).version(version).build()) {
          client.send(HttpRequest.newBuilder(URI.create(args[0])).header("Host", "shop.example").header("User-Agent", "jdk " + version).build(),
              BodyHandlers.ofString());
        }
      }
    }
  }
}
JAVA
node server.js > seen & server=$!
until [[ -s ports ]]; do sleep 0.1; done
read -r plain tls < ports
host='host: shop.example'
curl --silent --http2-prior-knowledge -H 'user-agent: curl' -H "$host" "http://localhost:$plain/" > /dev/null
node -e "const session = require('http2').connect('http://localhost:$plain');
  session.request({host: 'shop.example', 'user-agent': 'node'}).resume().on('end', () => session.close());"
nghttp --null-out -H 'user-agent: nghttp' -H "$host" "http://localhost:$plain/"
h2load -n 1 -c 1 -H 'user-agent: h2load' -H "$host" "http://localhost:$plain/" > /dev/null
"$java" -Djdk.httpclient.allowRestrictedHeaders=host Client.java "https://localhost:$tls/"
sort seen | tee sorted
diff sorted - <<'EXPECTED'
curl: :authority=shop.example host=undefined
h2load: :authority=localhost:PORT host=shop.example
jdk HTTP_1_1: :authority=undefined host=shop.example
jdk HTTP_2: :authority=localhost:PORT host=shop.example
nghttp: :authority=localhost:PORT host=shop.example
node: :authority=undefined host=shop.example
EXPECTED
