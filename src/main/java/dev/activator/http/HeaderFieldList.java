package dev.activator.http;

import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A list of the header fields of a message, in order. Netty's class is a hash table with an object
 * per field; comparing the few names of a typical head costs less.
 *
 * <p><b>Errors.</b> An {@link IllegalArgumentException} for a malformed value, if values are checked.
 */
public final class HeaderFieldList extends HttpHeaders {
  /**
   * The number of elements of a list that are parsed. Envoy's limit for {@code Connection} is 10.
   */
  public static final int MAX_ELEMENTS = 100;
  /**
   * The limit of fields in a request, including trailers, because each field takes much more memory
   * than its bytes. HTTP/2 applies it to head and trailers separately. Envoy's limit is 100.
   */
  public static final int MAX_IN_REQUEST = 1_000;
  /** The same limit for responses. */
  public static final int MAX_IN_RESPONSE = 10_000;

  /** Creates lists that check values; decoders check names. */
  public static final HttpHeadersFactory CHECKED = new HttpHeadersFactory() {
    @Override
    public HttpHeaders newHeaders() {
      return new HeaderFieldList(true);
    }

    @Override
    public HttpHeaders newEmptyHeaders() {
      return new HeaderFieldList(true);
    }
  };

  /** A shared empty list, which must not be changed. */
  static final HeaderFieldList NONE = new HeaderFieldList(false);
  private static final int INITIAL_CAPACITY = 8;

  private final boolean checked;
  private CharSequence[] names = new CharSequence[INITIAL_CAPACITY];
  private CharSequence[] values = new CharSequence[INITIAL_CAPACITY];
  private int size;
  /** A Bloom filter of all names that were added. Most lookups find nothing. */
  private long present;

  HeaderFieldList(boolean checked) {
    this.checked = checked;
  }

  /** The fields of a message. Our decoders create no other headers. */
  public static HeaderFieldList in(HttpMessage message) {
    return (HeaderFieldList) message.headers();
  }

  /** The same fields, to be read only. */
  public static HeaderFieldList of(HttpHeaders headers) {
    if (headers instanceof HeaderFieldList list) {
      return list;
    }
    if (headers.isEmpty()) {
      return NONE;
    }
    var copy = new HeaderFieldList(false);
    headers.iteratorCharSequence()
        .forEachRemaining(field -> copy.append(field.getKey(), field.getValue()));
    return copy;
  }

  /** The length of the text of all fields. */
  public int textLength() {
    int length = 0;
    for (int i = 0; i < size; i++) {
      length += names[i].length() + values[i].length();
    }
    return length;
  }

  /** The first value, or empty. */
  public String text(KnownHeader field) {
    var value = first(field);
    return value == null ? "" : value;
  }

  /** Whether a field has the token, also in a comma-separated list. */
  public boolean hasToken(KnownHeader field, String token) {
    boolean[] found = new boolean[1];
    eachToken(all(field), each -> found[0] |= each.equalsIgnoreCase(token));
    return found[0];
  }

  /**
   * Splits comma-separated lists (RFC 9110, section 5.6.1). Skips empty elements, and those beyond
   * {@link #MAX_ELEMENTS}. Decoders refuse lists that affect the connection and are longer.
   */
  public static void eachToken(List<String> values, Consumer<String> token) {
    int elements = 0;
    for (String value : values) {
      int from = 0;
      while (from <= value.length() && elements < MAX_ELEMENTS) {
        int comma = value.indexOf(',', from);
        int to = comma < 0 ? value.length() : comma;
        String element = value.substring(from, to).strip();
        if (!element.isEmpty()) {
          token.accept(element);
        }
        from = to + 1;
        elements++;
      }
    }
  }

  /** Returns the name if it is a token (RFC 9110, section 5.1), or throws. */
  public static AsciiString checked(AsciiString name) {
    if (name.isEmpty() || HttpHeaderValidationUtil.validateToken(name) != -1) {
      throw new IllegalArgumentException("malformed name");
    }
    return name;
  }

  private static long bit(CharSequence name) {
    int hash = AsciiString.hashCode(name);
    return 1L << (hash ^ hash >>> 6 ^ hash >>> 12);
  }

  /** The index of the next field with this name; -1 if there is none. */
  private int find(CharSequence name, int from) {
    for (int i = from; i < size; i++) {
      if (is(names[i], name)) {
        return i;
      }
    }
    return -1;
  }

  private static boolean is(CharSequence one, CharSequence other) {
    return one == other || one.length() == other.length()
        && AsciiString.contentEqualsIgnoreCase(one, other);
  }

  private int first(CharSequence name) {
    return (present & bit(name)) == 0 ? -1 : find(name, 0);
  }

  private void append(CharSequence name, CharSequence value) {
    if (checked && HttpHeaderValidationUtil.validateValidHeaderValue(value) != -1) {
      throw new IllegalArgumentException("malformed value");
    }
    if (size == names.length) {
      names = Arrays.copyOf(names, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
    }
    names[size] = name;
    values[size] = value;
    size++;
    present |= bit(name);
  }

  private static CharSequence text(Object value) {
    return value instanceof CharSequence text ? text : value.toString();
  }

  @Override
  public @Nullable String get(CharSequence name) {
    int at = first(name);
    return at < 0 ? null : values[at].toString();
  }

  @Override
  public @Nullable String get(String name) {
    return get((CharSequence) name);
  }

  @Override
  public boolean contains(CharSequence name) {
    return first(name) >= 0;
  }

  @Override
  public boolean contains(String name) {
    return first(name) >= 0;
  }

  @Override
  public List<String> getAll(CharSequence name) {
    int at = first(name);
    if (at < 0) {
      return List.of();
    }
    int next = find(name, at + 1);
    if (next < 0) {
      return Collections.singletonList(values[at].toString());
    }
    var all = new ArrayList<String>();
    for (; at >= 0; at = find(name, at + 1)) {
      all.add(values[at].toString());
    }
    return all;
  }

  @Override
  public List<String> getAll(String name) {
    return getAll((CharSequence) name);
  }

  public @Nullable String first(KnownHeader field) {
    return get(field.name);
  }

  public List<String> all(KnownHeader field) {
    return getAll(field.name);
  }

  public boolean has(KnownHeader field) {
    return first(field.name) >= 0;
  }

  public boolean isRepeated(KnownHeader field) {
    return isRepeated(field.name);
  }

  boolean isRepeated(CharSequence name) {
    int at = first(name);
    return at >= 0 && find(name, at + 1) >= 0;
  }

  public void set(KnownHeader field, String value) {
    set(field.name, value);
  }

  /** Sets a field and puts it before all others. */
  public void setFirst(KnownHeader field, String value) {
    set(field.name, value);
    var last = values[size - 1];
    System.arraycopy(names, 0, names, 1, size - 1);
    System.arraycopy(values, 0, values, 1, size - 1);
    names[0] = field.name;
    values[0] = last;
  }

  public void remove(KnownHeader field) {
    remove(field.name);
  }

  public void removeAll(Set<String> namesIgnoringCase) {
    int to = 0;
    for (int i = 0; i < size; i++) {
      if (!namesIgnoringCase.contains(names[i].toString())) {
        names[to] = names[i];
        values[to] = values[i];
        to++;
      }
    }
    truncate(to);
  }

  @Override
  public HttpHeaders add(CharSequence name, Object value) {
    append(name, text(value));
    return this;
  }

  @Override
  public HttpHeaders add(String name, Object value) {
    return add((CharSequence) name, value);
  }

  @Override
  public HttpHeaders add(String name, Iterable<?> all) {
    all.forEach(value -> append(name, text(value)));
    return this;
  }

  @Override
  public HttpHeaders addInt(CharSequence name, int value) {
    return add(name, Integer.toString(value));
  }

  @Override
  public HttpHeaders addShort(CharSequence name, short value) {
    return add(name, Short.toString(value));
  }

  @Override
  public HttpHeaders set(CharSequence name, Object value) {
    remove(name);
    return add(name, value);
  }

  @Override
  public HttpHeaders set(String name, Object value) {
    return set((CharSequence) name, value);
  }

  @Override
  public HttpHeaders set(String name, Iterable<?> all) {
    remove(name);
    return add(name, all);
  }

  @Override
  public HttpHeaders setInt(CharSequence name, int value) {
    return set(name, Integer.toString(value));
  }

  @Override
  public HttpHeaders setShort(CharSequence name, short value) {
    return set(name, Short.toString(value));
  }

  @Override
  public HttpHeaders remove(CharSequence name) {
    int to = first(name);
    if (to >= 0) {
      for (int i = to + 1; i < size; i++) {
        if (!is(names[i], name)) {
          names[to] = names[i];
          values[to] = values[i];
          to++;
        }
      }
      truncate(to);
    }
    return this;
  }

  @Override
  public HttpHeaders remove(String name) {
    return remove((CharSequence) name);
  }

  @Override
  public HttpHeaders clear() {
    truncate(0);
    present = 0;
    return this;
  }

  @SuppressWarnings("NullAway") // Beyond the size nothing is read.
  private void truncate(int to) {
    Arrays.fill(names, to, size, null);
    Arrays.fill(values, to, size, null);
    size = to;
  }

  @Override
  public boolean isEmpty() {
    return size == 0;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Set<String> names() {
    var all = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (int i = 0; i < size; i++) {
      all.add(names[i].toString());
    }
    return all;
  }

  CharSequence name(int index) {
    return names[index];
  }

  CharSequence value(int index) {
    return values[index];
  }

  @Override
  public List<Map.Entry<String, String>> entries() {
    return IntStream.range(0, size)
        .mapToObj(i -> Map.entry(names[i].toString(), values[i].toString())).toList();
  }

  @Override
  public Iterator<Map.Entry<String, String>> iterator() {
    return entries().iterator();
  }

  @Override
  public Iterator<Map.Entry<CharSequence, CharSequence>> iteratorCharSequence() {
    return IntStream.range(0, size).mapToObj(i -> Map.entry(names[i], values[i])).iterator();
  }

  @Override
  public Iterator<? extends CharSequence> valueCharSequenceIterator(CharSequence name) {
    return first(name) < 0 ? Collections.emptyIterator() : getAll(name).iterator();
  }

  @Override
  public @Nullable Integer getInt(CharSequence name) {
    var text = get(name);
    try {
      return text == null ? null : Integer.valueOf(text);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  @Override
  public int getInt(CharSequence name, int otherwise) {
    var number = getInt(name);
    return number == null ? otherwise : number;
  }

  @Override
  public Short getShort(CharSequence name) {
    throw new UnsupportedOperationException("short numbers are not supported");
  }

  @Override
  public short getShort(CharSequence name, short otherwise) {
    throw new UnsupportedOperationException("short numbers are not supported");
  }

  @Override
  public Long getTimeMillis(CharSequence name) {
    throw new UnsupportedOperationException("dates are not supported");
  }

  @Override
  public long getTimeMillis(CharSequence name, long otherwise) {
    throw new UnsupportedOperationException("dates are not supported");
  }
}
