package dev.activator.proxy.policy;

import dev.activator.http.KnownHeader;
import dev.activator.http.HeaderMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Header fields in a list, as a policy's test writes them: {@code name, value, name, value}. */
public final class MapFields implements HeaderMap {
  private final List<Map.Entry<String, String>> entries = new ArrayList<>();

  public static MapFields of(String... namesAndValues) {
    var fields = new MapFields();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.entries.add(Map.entry(namesAndValues[i], namesAndValues[i + 1]));
    }
    return fields;
  }

  @Override
  public List<String> getAll(String name) {
    return all(name);
  }

  List<String> all(String name) {
    return entries.stream().filter(entry -> entry.getKey().equalsIgnoreCase(name))
        .map(Map.Entry::getValue).toList();
  }

  @Override
  public @Nullable String first(KnownHeader field) {
    var values = all(field);
    return values.isEmpty() ? null : values.getFirst();
  }

  @Override
  public List<String> all(KnownHeader field) {
    return all(field.text());
  }

  @Override
  public boolean has(KnownHeader field) {
    return !all(field).isEmpty();
  }

  @Override
  public boolean isRepeated(KnownHeader field) {
    return all(field).size() > 1;
  }

  @Override
  public void set(KnownHeader field, String value) {
    remove(field);
    entries.add(Map.entry(field.text(), value));
  }

  @Override
  public void setFirst(KnownHeader field, String value) {
    remove(field);
    entries.addFirst(Map.entry(field.text(), value));
  }

  @Override
  public void remove(KnownHeader field) {
    entries.removeIf(entry -> entry.getKey().equalsIgnoreCase(field.text()));
  }

  @Override
  public void removeAll(Set<String> names) {
    entries.removeIf(entry -> names.contains(entry.getKey()));
  }
}
