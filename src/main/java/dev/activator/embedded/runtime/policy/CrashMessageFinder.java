package dev.activator.embedded.runtime.policy;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Finds the line of a program's output that contains the reason why it ended.
 *
 * <p>It is the last line that is neither part of a stack trace, nor a line that a runtime prints
 * after a stack trace. If that line is only information, the last error that was logged shortly
 * before is used.
 */
public final class CrashMessageFinder {
  /** Stack frames and their continuation lines are indented in all runtimes except Go. */
  private static final Pattern INDENTED = Pattern.compile("^\\s(?!\\s*what\\(\\):).*");
  private static final Pattern EPILOGUE = Pattern.compile(
      "Node\\.js v\\d.*|Emitted 'error' event.*|Require stack:|- .*|[}\\])]+[;,]?" // Node.js
          + "|goroutine \\d+ .*|[\\w./*()-][\\w./*)-]*\\(.*\\)|exit status \\d+|\\[signal .*|created by .*" // Go
          + "|Stack trace:|#\\d+ .*" // PHP
          + "|note: .*|stack backtrace:" // Rust
          + "|Aborted( \\(core dumped\\))?");
  private static final Pattern INFORMATION = Pattern.compile("^.{0,60}?\\b(INFO|DEBUG|TRACE)\\b.*");
  private static final Pattern ERROR = Pattern
      .compile("^.{0,60}?\\b(ERROR|FATAL|CRITICAL|SEVERE|emerg)\\b.*");
  private static final int LINES_AFTER_AN_ERROR = 10;
  private static final String SPRING_BOOT = "APPLICATION FAILED TO START";
  private static final String SPRING_BOOT_REASON = "Description:";

  private CrashMessageFinder() {}

  /** The line, without surrounding blanks; empty if there is none. */
  public static String of(List<String> output) {
    var lines = output.stream().filter(line -> !line.isBlank()).toList();
    if (lines.isEmpty()) {
      return "";
    }
    int banner = lines.lastIndexOf(SPRING_BOOT);
    int reason = banner < 0 ? -1 : lines.subList(banner, lines.size()).indexOf(SPRING_BOOT_REASON);
    if (reason >= 0 && banner + reason + 1 < lines.size()) {
      return lines.get(banner + reason + 1).strip();
    }
    int last = lines.size() - 1;
    while (last >= 0 && isAfterwards(lines.get(last))) {
      last--;
    }
    return last < 0 ? lines.getLast().strip() : lines.get(errorBefore(lines, last)).strip();
  }

  private static boolean isAfterwards(String line) {
    return INDENTED.matcher(line).matches() || EPILOGUE.matcher(line).matches();
  }

  private static int errorBefore(List<String> lines, int last) {
    if (INFORMATION.matcher(lines.get(last)).matches()) {
      for (int at = last; at >= Math.max(0, last - LINES_AFTER_AN_ERROR); at--) {
        if (ERROR.matcher(lines.get(at)).matches()) {
          return at;
        }
      }
    }
    return last;
  }
}
