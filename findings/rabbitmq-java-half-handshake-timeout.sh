#!/usr/bin/env bash
# RabbitMQ's client for Java 5.37.1 (com.rabbitmq:amqp-client), and a broker that accepts connections and greets late: one that starts,
# behind a proxy or a Service that accepts for it.
#
# The guess: the client waits for the broker's greeting as long as its handshake timeout says (ConnectionFactory.setHandshakeTimeout, by
# default 10 s).
#
# What it does: it waits half as long for the greeting, and again for each answer to its login. With the default, a broker that greets after
# 7 s is left after 5 s, and so is each later attempt. A start of 30 s needs a timeout of more than 60 s. Seen:
#   never greets, handshake timeout 4 s: gives up after 2 s
#   never greets, handshake timeout 10 s: gives up after 5 s
#   greets after 3 s, handshake timeout 10 s: open
#   greets after 7 s, handshake timeout 10 s: gives up after 5 s
#   greets after 7 s, handshake timeout 20 s: open
#
# Needs Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.rabbitmq</groupId><artifactId>amqp-client</artifactId><version>5.37.1</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.rabbitmq.client.ConnectionFactory;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

public class Finding {
  static boolean changed;

  public static void main(String[] args) throws Exception {
    row("never greets, handshake timeout 4 s", 4000, -1, "gives up after 2 s");
    row("never greets, handshake timeout 10 s", 10_000, -1, "gives up after 5 s");
    row("greets after 3 s, handshake timeout 10 s", 10_000, 3000, "open");
    row("greets after 7 s, handshake timeout 10 s", 10_000, 7000, "gives up after 5 s");
    row("greets after 7 s, handshake timeout 20 s", 20_000, 7000, "open");
    System.exit(changed ? 1 : 0);
  }

  static void row(String what, int timeout, int greetsAfter, String expected) throws Exception {
    String seen;
    try (var listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      var server = new Thread(() -> serve(listener, greetsAfter));
      server.setDaemon(true);
      server.start();
      var factory = new ConnectionFactory();
      factory.setHost("127.0.0.1");
      factory.setPort(listener.getLocalPort());
      factory.setHandshakeTimeout(timeout);
      long begun = System.nanoTime();
      try (var connection = factory.newConnection()) {
        seen = "open";
      } catch (TimeoutException e) {
        seen = "gives up after " + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun) + " s";
      }
    }
    System.out.println(what + ": " + seen);
    changed |= !seen.equals(expected);
  }

  /** A broker that is up late: it opens a connection, and closes it. */
  static void serve(ServerSocket listener, int greetsAfter) {
    try (var socket = listener.accept()) {
      var in = new DataInputStream(socket.getInputStream());
      var out = new DataOutputStream(socket.getOutputStream());
      in.readFully(new byte[8]);
      if (greetsAfter < 0) {
        in.read();
        return;
      }
      Thread.sleep(greetsAfter);
      // connection.start of version 0.9 with no properties, PLAIN and en_US; tune; open-ok; close-ok
      method(out, 10, new byte[] {0, 9, 0, 0, 0, 0, 0, 0, 0, 5, 'P', 'L', 'A', 'I', 'N', 0, 0, 0, 5, 'e', 'n', '_', 'U', 'S'});
      method(in);
      method(out, 30, new byte[] {0, 0, 0, 2, 0, 0, 0, 0});
      method(in);
      method(in);
      method(out, 41, new byte[] {0});
      method(in);
      method(out, 51, new byte[0]);
      in.read();
    } catch (Exception e) {
      // The client has left.
    }
  }

  static void method(DataOutputStream out, int number, byte[] arguments) throws Exception {
    out.write(new byte[] {1, 0, 0});
    out.writeInt(4 + arguments.length);
    out.writeShort(10);
    out.writeShort(number);
    out.write(arguments);
    out.write(0xce);
    out.flush();
  }

  static void method(DataInputStream in) throws Exception {
    in.skipNBytes(3);
    in.skipNBytes(in.readInt() + 1);
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" Finding.java 2> errors || { status=$?; cat errors >&2; exit "$status"; }
