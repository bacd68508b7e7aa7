package dev.activator.embedded.runtime;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * A signal to all processes of a group, by {@code kill(2)}: a process that is started for it would take
 * some milliseconds.
 */
enum ProcessGroupSignal {
  STOP(19, 17),
  CONTINUE(18, 19);

  private static final boolean IS_LINUX = System.getProperty("os.name", "").startsWith("Linux");

  private final int linux;
  private final int bsd;

  ProcessGroupSignal(int linux, int bsd) {
    this.linux = linux;
    this.bsd = bsd;
  }

  private static final class Kill {
    private static final @Nullable MethodHandle HANDLE = find();

    @SuppressWarnings("restricted") // The manifest and the flags permit it.
    private static @Nullable MethodHandle find() {
      var linker = Linker.nativeLinker();
      return linker.defaultLookup().find("kill")
          .map(symbol -> linker.downcallHandle(symbol, FunctionDescriptor.of(ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)))
          .orElse(null);
    }
  }

  /**
   * @param group the process id of its leader
   * @return why it was not sent; empty if it was
   */
  String send(long group) {
    var kill = Kill.HANDLE;
    try {
      return kill != null && (int) kill.invokeExact((int) -group, IS_LINUX ? linux : bsd) == 0
          ? ""
          : "the process group " + group + " cannot be signalled";
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
