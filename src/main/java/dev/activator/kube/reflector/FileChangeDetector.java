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
 * Detects which files have changed, without reading them. It follows symbolic links, because
 * kubelets replace those. Not thread-safe.
 */
final class FileChangeDetector {
  private final List<Path> files;
  private Map<Path, Stamp> stamps;

  private record Stamp(FileTime modified, long size, @Nullable Object key) {}

  FileChangeDetector(Collection<Path> files) {
    this.files = List.copyOf(files);
    this.stamps = now();
  }

  /** The files that have changed, disappeared or appeared since the last call. */
  Set<Path> changed() {
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
