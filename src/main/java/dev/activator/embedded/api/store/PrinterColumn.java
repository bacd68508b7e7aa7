package dev.activator.embedded.api.store;

/**
 * A column that a kind adds to its tables.
 *
 * @param name its heading
 * @param type {@code string}, {@code integer}, {@code boolean}, {@code number} or {@code date}
 * @param path where in an object the value is, such as {@code .status.phase}
 * @param priority 0 to be seen always; above it, only in wide tables
 */
public record PrinterColumn(String name, String type, String path, int priority) {
  static PrinterColumn of(String name, String path) {
    return new PrinterColumn(name, "string", path, 0);
  }
}
