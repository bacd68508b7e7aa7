import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Writes the jars of a folder again, without compression: a layer of an image compresses them together, to three quarters of
 * what jars take that are compressed file by file.
 */
class StoreJars {
  /** @param args the folder */
  public static void main(String[] args) throws IOException {
    try (var jars = Files.newDirectoryStream(Path.of(args[0]), "*.jar")) {
      for (var jar : jars) {
        store(jar);
      }
    }
  }

  private static void store(Path jar) throws IOException {
    var stored = jar.resolveSibling(jar.getFileName() + ".stored");
    try (var from = new ZipFile(jar.toFile());
        var to = new ZipOutputStream(Files.newOutputStream(stored))) {
      to.setMethod(ZipOutputStream.STORED);
      from.stream().forEach(entry -> copy(from, entry, to));
    }
    Files.setLastModifiedTime(stored, Files.getLastModifiedTime(jar));
    Files.move(stored, jar, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void copy(ZipFile from, ZipEntry entry, ZipOutputStream to) {
    try {
      var content = from.getInputStream(entry).readAllBytes();
      var crc = new CRC32();
      crc.update(content);
      var copy = new ZipEntry(entry.getName());
      copy.setTime(entry.getTime());
      copy.setSize(content.length);
      copy.setCrc(crc.getValue());
      to.putNextEntry(copy);
      to.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
