package dev.activator.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A network namespace for one test, joined to ours by a virtual cable. It can drop its packets, so that
 * its end of a connection does not even say that it is gone. Skips the test where namespaces cannot be
 * made: they need Linux and root.
 */
public final class NetworkNamespace implements BeforeEachCallback, AfterEachCallback {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final int CLONE_NEWNET = 0x4000_0000;
  private static final String WHY_NOT = whyNot();

  private final String name;
  private final String cable;
  private final String ours;
  private final String theirs;
  private boolean made;

  public NetworkNamespace() {
    int number = COUNT.getAndIncrement();
    long process = ProcessHandle.current().pid();
    // Addresses for tests of networks (RFC 2544); a pair of them for each.
    long pair = (process * 61 + number) % (1 << 15);
    String prefix = "198.18." + (pair >> 6 & 0xff) + ".";
    long last = (pair & 0x3f) << 2;
    name = "act-" + process + "-" + number;
    ours = prefix + (last + 1);
    theirs = prefix + (last + 2);
    cable = "a" + process + "-" + number;
  }

  private static String whyNot() {
    var tried = new NetworkNamespace();
    try {
      tried.make();
      tried.delete();
      return "";
    } catch (IOException failure) {
      return "network namespaces cannot be made here: " + failure.getMessage();
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    assumeTrue(WHY_NOT.isEmpty(), WHY_NOT);
    make();
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    if (made) {
      delete();
    }
  }

  private void make() throws IOException {
    run("ip", "netns", "add", name);
    try {
      run("ip", "link", "add", cable, "type", "veth", "peer", "name", "pod0", "netns", name);
      run("ip", "address", "add", ours + "/30", "dev", cable);
      run("ip", "link", "set", cable, "up");
      inside("address", "add", theirs + "/30", "dev", "pod0");
      inside("link", "set", "pod0", "up");
      inside("link", "set", "lo", "up");
      made = true;
    } catch (IOException failure) {
      delete();
      throw failure;
    }
  }

  /** A socket in it that listens. */
  public ServerSocket listen() throws IOException {
    return inside(() -> new ServerSocket(0, 1024, InetAddress.getByName(theirs)));
  }

  /** A connection from it to a port that is open on all of our addresses. */
  public Socket connect(int port) throws IOException {
    return inside(() -> new Socket(ours, port));
  }

  private <T> T inside(Callable<T> open) throws IOException {
    var opened = new CompletableFuture<T>();
    // The thread belongs to the other network from then on.
    Thread.ofPlatform().start(() -> {
      try {
        enter();
        opened.complete(open.call());
      } catch (Throwable failure) {
        opened.completeExceptionally(failure);
      }
    });
    try {
      return opened.get(120, TimeUnit.SECONDS);
    } catch (Exception failure) {
      throw new IOException("cannot open a socket in " + name, failure);
    }
  }

  private void enter() throws Throwable {
    try (var arena = Arena.ofConfined()) {
      int file = (int) function("open", ValueLayout.ADDRESS, ValueLayout.JAVA_INT)
          .invoke(arena.allocateFrom("/var/run/netns/" + name), 0);
      int entered = (int) function("setns", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)
          .invoke(file, CLONE_NEWNET);
      int closed = (int) function("close", ValueLayout.JAVA_INT).invoke(file);
      if (entered != 0 || closed != 0) {
        throw new IOException("cannot enter " + name);
      }
    }
  }

  private static MethodHandle function(String name, java.lang.foreign.MemoryLayout... parameters) {
    var linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
  }

  /** From now on no packet leaves it. */
  public void vanish() throws IOException {
    inside("route", "add", "blackhole", ours + "/32");
  }

  private void inside(String... arguments) throws IOException {
    String[] command = new String[arguments.length + 3];
    command[0] = "ip";
    command[1] = "-n";
    command[2] = name;
    System.arraycopy(arguments, 0, command, 3, arguments.length);
    run(command);
  }

  private static void run(String... command) throws IOException {
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes()).strip();
    try {
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + output);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException(interrupted);
    }
  }

  private void delete() throws IOException {
    run("ip", "netns", "delete", name);
  }
}
