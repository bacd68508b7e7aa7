package dev.activator.revision;

import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The typed key of a value that one part of the activator keeps for each {@link LiveRevision}: an index
 * into the revision's array. A part declares it with {@link LiveRevisions#declare} when it is built.
 *
 * <p><b>Source.</b> Netty's {@code AttributeKey}, with the value's maker and its end.
 *
 * @param <T> the value
 */
public final class Slot<T> {
  final int index;
  private final String name;
  private final Function<LiveRevision, ? extends T> make;
  private final Consumer<? super T> end;

  Slot(int index, String name, Function<LiveRevision, ? extends T> make, Consumer<? super T> end) {
    this.index = index;
    this.name = name;
    this.make = make;
    this.end = end;
  }

  T made(LiveRevision revision) {
    return make.apply(revision);
  }

  @SuppressWarnings("unchecked")
  void end(Object value) {
    end.accept((T) value);
  }

  @Override
  public String toString() {
    return name;
  }
}
