package dev.activator.proxy;

import java.util.List;
import java.util.Map;

/**
 * Runs Autobahn's fuzzing client: a program, for a process of its own. It is written in Python and
 * runs on Jython, for which a class path with packages that begin with {@code io} hides a module.
 */
final class FuzzingClient {
  private static final String SUITE = "me.normanmaurer.maven.autobahntestsuite.AutobahnTestSuite";
  /** Before each line that is a result. */
  static final String RESULT = "RESULT ";

  private FuzzingClient() {}

  /** Prints a line a case: its name, how the other side behaved, and how it closed. */
  public static void main(String[] arguments) throws Exception {
    var run = Class.forName(SUITE).getMethod("runFuzzingClient", String.class, String.class,
        Map.class, List.class, List.class);
    var results = (List<?>) run.invoke(null, arguments[0], arguments[1], Map.of(),
        List.of(arguments[2].split(",")), List.of(arguments[3].split(",")));
    for (Object result : results) {
      System.out.println(RESULT + said(result, "caseName") + " " + said(result, "behavior") + " "
          + said(result, "behaviorClose"));
    }
    // The reactor of its client has threads that nobody ends.
    System.exit(0);
  }

  private static Object said(Object result, String name) throws Exception {
    var method = result.getClass().getMethod(name);
    method.setAccessible(true);
    return method.invoke(result);
  }
}
