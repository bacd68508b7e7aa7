package dev.activator.kube.reflector;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Detects which files have changed, without reading them, and when those that could not be used are
 * to be read again. It follows symbolic links, because kubelets replace those. Not thread-safe.
 */
final class FileChangeDetector {
  private static final int MAX_DOUBLINGS = 6;

  private List<Path> files;
  private Map<Path, Stamp> stamps;
  /** The files that have changed, and could not be used since then. */
  private final Set<Path> unused = new HashSet<>();
  private boolean isRetry;
  /** The number of failed attempts in a row. {@code callsToRetry} doubles with each. */
  private int failures;
  /**
   * The number of calls before the next attempt. Calls are counted instead of time: there is one for
   * each request, and requests are regular enough.
   */
  private int callsToRetry;

  private record Stamp(FileTime modified, long size, @Nullable Object key) {}

  FileChangeDetector(Collection<Path> files) {
    this.files = List.copyOf(files);
    this.stamps = now();
  }

  /** Detects changes of other files from now on. Those that could not be used stay so. */
  void follow(Collection<Path> others) {
    files = List.copyOf(others);
    stamps = now();
  }

  /** The files that are to be read now, because they have changed since they were used. */
  Set<Path> due() {
    var changed = changed();
    isRetry = changed.isEmpty();
    if (isRetry && (unused.isEmpty() || --callsToRetry > 0)) {
      return Set.of();
    }
    unused.addAll(changed);
    return Set.copyOf(unused);
  }

  /** Call when the files that were due are used. */
  void used() {
    unused.clear();
    failures = 0;
  }

  /** Call when the files that were due cannot be used. Returns whether one had just changed. */
  boolean failed() {
    callsToRetry = 1 << failures;
    failures = Math.min(failures + 1, MAX_DOUBLINGS);
    return !isRetry;
  }

  boolean hasFailed() {
    return failures > 0;
  }

  /** The files that have changed, disappeared or appeared since the last call. */
  private Set<Path> changed() {
    var before = stamps;
    stamps = now();
    var changed = new HashSet<Path>();
    for (var file : files) {
      if (!Objects.equals(before.get(file), stamps.get(file))) {
        changed.add(file);
      }
    }
    return changed;
  }

  private Map<Path, Stamp> now() {
    var now = new HashMap<Path, Stamp>();
    for (var file : files) {
      try {
        var read = Files.readAttributes(file, BasicFileAttributes.class);
        now.put(file, new Stamp(read.lastModifiedTime(), read.size(), read.fileKey()));
      } catch (IOException e) {
        now.remove(file);
      }
    }
    return now;
  }
}
