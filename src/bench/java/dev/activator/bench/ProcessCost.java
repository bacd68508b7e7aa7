package dev.activator.bench;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** What a process of this machine has used so far. */
public final class ProcessCost {
  /** The kernel counts in hundredths of a second. */
  private static final long MICROS_A_TICK = 10_000;
  /** Where user time stands behind the program's name, which may have blanks. */
  private static final int USER_TIME = 11;

  private ProcessCost() {}

  /** CPU time, in user and kernel mode. */
  public static long cpuMicros(long pid) throws IOException {
    var stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]))
        * MICROS_A_TICK;
  }

  public static double residentMebibytes(long pid) throws IOException {
    return mebibytes(pid, "VmRSS");
  }

  /** The part that is backed by files, such as an archive that is mapped; it can be shared. */
  static double residentFileMebibytes(long pid) throws IOException {
    return mebibytes(pid, "RssFile");
  }

  private static double mebibytes(long pid, String field) throws IOException {
    try (var lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
      return lines.filter(line -> line.startsWith(field))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum() / 1024.0;
    }
  }

  /** What the threads of another JVM have allocated. */
  static long allocatedBytes(long pid) throws IOException {
    return in(pid, ThreadMXBean.class, ManagementFactory.THREAD_MXBEAN_NAME,
        ThreadMXBean::getTotalThreadAllocatedBytes);
  }

  /** After enough collections that the serial collector has left no gaps. */
  static double liveHeapMebibytes(long pid) throws IOException {
    return in(pid, MemoryMXBean.class, ManagementFactory.MEMORY_MXBEAN_NAME, memory -> {
      for (int i = 0; i < 4; i++) {
        memory.gc();
      }
      return memory.getHeapMemoryUsage().getUsed() / 1048576.0;
    });
  }

  private static <B, R> R in(long pid, Class<B> type, String name, Function<B, R> read)
      throws IOException {
    try {
      var machine = VirtualMachine.attach(Long.toString(pid));
      var url = new JMXServiceURL(machine.startLocalManagementAgent());
      machine.detach();
      try (var connector = JMXConnectorFactory.connect(url)) {
        return read.apply(ManagementFactory
            .newPlatformMXBeanProxy(connector.getMBeanServerConnection(), name, type));
      }
    } catch (AttachNotSupportedException other) {
      throw new IOException(other);
    }
  }
}
