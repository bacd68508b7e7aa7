package dev.activator.app;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** What the runtime says of itself, as text. */
final class ProcessText {
  private ProcessText() {}

  static String index() {
    return "profiles of this process:\n  " + String.join("\n  ", ProfilingServer.paths()) + "\n";
  }

  /** Every thread and where it is. */
  static String threads() {
    return diagnostic("threadPrint");
  }

  /** How many objects there are of each class, and how many bytes they take; runs a collection. */
  static String heap() {
    return diagnostic("gcClassHistogram");
  }

  static String commandLine() {
    var info = ProcessHandle.current().info();
    return info.commandLine().orElseGet(() -> info.command().orElse("")) + "\n";
  }

  private static String diagnostic(String command) {
    try {
      return (String) ManagementFactory.getPlatformMBeanServer().invoke(
          new ObjectName("com.sun.management:type=DiagnosticCommand"), command,
          new Object[]{new String[0]}, new String[]{String[].class.getName()});
    } catch (JMException unsupported) {
      return "this runtime cannot say: " + unsupported.getMessage() + "\n";
    }
  }
}
