package dev.activator.cluster.decode;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import java.io.IOException;
import java.util.function.Supplier;

/** Reads an object as a tree, and keeps of it what the reader finds. */
abstract class ItemDecoder<F, I extends Item<F>> extends StdDeserializer<I> {
  private final transient Supplier<I> empty;
  private final transient Item.Reader<F> reader;

  ItemDecoder(Class<I> type, Supplier<I> empty, Item.Reader<F> reader) {
    super(type);
    this.empty = empty;
    this.reader = reader;
  }

  @Override
  public I deserialize(JsonParser parser, DeserializationContext context) throws IOException {
    I item = empty.get();
    item.fill(context.readTree(parser), reader);
    return item;
  }
}
