package dev.activator.proxy.codec;

import dev.activator.http.FieldList;
import dev.activator.proxy.policy.Field;
import dev.activator.proxy.policy.Fields;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.EnumMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The policies' view of Netty's headers. */
public record NettyFields(HttpHeaders headers) implements Fields {
  /** Cached with their hashes. */
  private static final EnumMap<Field, AsciiString> NAMES = new EnumMap<>(Field.class);

  static {
    for (var field : Field.values()) {
      NAMES.put(field, AsciiString.cached(field.text()));
    }
  }

  static AsciiString name(Field field) {
    return Objects.requireNonNull(NAMES.get(field));
  }

  @Override
  public @Nullable String first(Field field) {
    return headers.get(name(field));
  }

  @Override
  public List<String> all(Field field) {
    return headers.getAll(name(field));
  }

  @Override
  public boolean has(Field field) {
    return headers.contains(name(field));
  }

  @Override
  public boolean isRepeated(Field field) {
    if (headers instanceof FieldList list) {
      return list.isRepeated(name(field));
    }
    var values = headers.valueCharSequenceIterator(name(field));
    if (values.hasNext()) {
      values.next();
    }
    return values.hasNext();
  }

  @Override
  public void set(Field field, String value) {
    headers.set(name(field), value);
  }

  @Override
  public void remove(Field field) {
    headers.remove(name(field));
  }

  @Override
  public void remove(String name) {
    headers.remove(name);
  }

  @Override
  public void removeAll(Set<String> names) {
    var all = headers.entries();
    headers.clear();
    for (var field : all) {
      if (!names.contains(field.getKey())) {
        headers.add(field.getKey(), field.getValue());
      }
    }
  }
}
