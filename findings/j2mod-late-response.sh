#!/usr/bin/env bash
# j2mod 3.3.0 (com.ghgande:j2mod), Modbus over TCP, and a device that answers one request later than the client's timeout, as a gateway does
# to a slow line.
#
# The guess: the late answer is dropped. Each request has a transaction identifier, which the answer repeats, so that the client can tell
# which request an answer belongs to; j2mod compares them.
#
# What it does: it sends the request again, each time on a new connection and with the next identifier, but when it gives up it keeps the last
# connection, and the identifier. The next request has both: its caller gets the answer to the one before, the value of another register,
# without an error, and the one after that fails. Register N of this device has the value N, and reading number 10 takes 1.5 s. Seen:
#   timeout 1 s: 10 fails, 20 is 10, 30 fails
#   identifiers on the last connection of request 10: 4:10 4:20
#   timeout 3 s: 10 is 10, 20 is 20, 30 is 30
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
    <dependency><groupId>com.ghgande</groupId><artifactId>j2mod</artifactId><version>3.3.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.ghgande.j2mod.modbus.ModbusException;
import com.ghgande.j2mod.modbus.facade.ModbusTCPMaster;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

public class Finding {
  static boolean changed;

  public static void main(String[] args) throws Exception {
    var requests = Collections.synchronizedList(new ArrayList<String>());
    check("timeout 1 s", read(1000, requests), "10 fails, 20 is 10, 30 fails");
    check("identifiers on the last connection of request 10",
        requests.stream().filter(one -> one.startsWith("4:")).collect(Collectors.joining(" ")), "4:10 4:20");
    check("timeout 3 s", read(3000, new ArrayList<>()), "10 is 10, 20 is 20, 30 is 30");
    System.exit(changed ? 1 : 0);
  }

  static void check(String what, String seen, String expected) {
    System.out.println(what + ": " + seen);
    changed |= !seen.equals(expected);
  }

  static String read(int timeout, List<String> requests) throws Exception {
    var seen = new ArrayList<String>();
    try (var listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      start(() -> accept(listener, requests));
      var client = new ModbusTCPMaster("127.0.0.1", listener.getLocalPort(), timeout, false);
      client.connect();
      for (int register = 10; register <= 30; register += 10) {
        try {
          seen.add(register + " is " + client.readMultipleRegisters(register, 1)[0].getValue());
        } catch (ModbusException e) {
          seen.add(register + " fails");
        }
      }
      client.disconnect();
    }
    return String.join(", ", seen);
  }

  static void start(Runnable task) {
    var thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
  }

  static void accept(ServerSocket listener, List<String> requests) {
    try {
      while (true) {
        var socket = listener.accept();
        start(() -> serve(socket, requests));
      }
    } catch (IOException e) {
      // The row is over.
    }
  }

  /** Answers each "read holding registers" with the number of the register, in order. */
  static void serve(Socket socket, List<String> requests) {
    try (socket) {
      var in = new DataInputStream(socket.getInputStream());
      while (true) {
        short id = in.readShort();
        in.skipNBytes(4);
        byte unit = in.readByte();
        byte function = in.readByte();
        short register = in.readShort();
        in.skipNBytes(2);
        requests.add(id + ":" + register);
        if (register == 10) {
          Thread.sleep(1500);
        }
        socket.getOutputStream().write(ByteBuffer.allocate(11).putShort(id).putInt(5).put(unit).put(function).put((byte) 2)
            .putShort(register).array());
      }
    } catch (IOException | InterruptedException e) {
      // The client has left.
    }
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" Finding.java 2> errors || { status=$?; cat errors >&2; exit "$status"; }
