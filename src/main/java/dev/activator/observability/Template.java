package dev.activator.observability;

import dev.activator.config.GoTemplate.Node;
import dev.activator.config.GoTemplate;
import dev.activator.config.TemplateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A template in Go's language. Values are {@link String}, {@link Long}, {@link Double},
 * {@link Boolean}, {@link List}, {@link Struct}, or null for Go's nil.
 *
 * <p><b>Source.</b> Go's {@code text/template}, without variables, definitions of templates, and
 * {@code break}. An unknown field is an error only when it is filled in, as in Go.
 */
final class Template {
  private static final String STATEMENTS = "if, with, range, else and end";
  private static final Set<String> UNSUPPORTED = Set.of("define", "block", "template", "break",
      "continue");

  public interface Struct {
    /** A field, or a method's result. */
    @Nullable Object member(String name, List<@Nullable Object> arguments)
        throws TemplateException;

    default Object printed() throws TemplateException {
      throw new TemplateException("this cannot be printed, only its fields");
    }
  }

  public interface Mapping extends Struct {
    SortedMap<String, List<String>> all();

    List<String> at(String key);

    @Override
    default Object printed() {
      return all();
    }
  }

  @FunctionalInterface
  interface Expression {
    @Nullable Object value(Scope scope) throws TemplateException;
  }

  /** What {@code $} and the dot stand for. */
  record Scope(Struct root, @Nullable Object dot) {}

  @FunctionalInterface
  private interface Part {
    void write(Scope scope, StringBuilder to) throws TemplateException;
  }

  private final List<Part> parts;

  private Template(List<Part> parts) {
    this.parts = parts;
  }

  /** @param absent dotted paths of fields that Go has and we do not */
  public static Template parse(String text, Set<String> absent) throws TemplateException {
    return new Template(parts(GoTemplate.parse(text), text, absent));
  }

  /** @throws TemplateException for an unknown field or an invalid operation */
  public String fill(Struct root) throws TemplateException {
    var filled = new StringBuilder(512);
    write(parts, new Scope(root, root), filled);
    return filled.toString();
  }

  private static void write(List<Part> parts, Scope scope, StringBuilder to)
      throws TemplateException {
    for (var part : parts) {
      part.write(scope, to);
    }
  }

  private static List<Part> parts(List<Node> nodes, String text, Set<String> absent)
      throws TemplateException {
    var parts = new ArrayList<Part>();
    for (var node : nodes) {
      parts.add(switch (node) {
        case Node.Text(var literal) -> (_, to) -> to.append(literal);
        case Node.Action action -> {
          refuse(action.inside().strip().split("\\s", 2)[0], text, action);
          var value = new TemplateParser(text, action, absent).parse();
          yield (scope, to) -> to.append(TemplateFunctions.printed(value.value(scope)));
        }
        case Node.Block block -> block(block, text, absent);
      });
    }
    return List.copyOf(parts);
  }

  private static Part block(Node.Block block, String text, Set<String> absent)
      throws TemplateException {
    refuse(block.word(), text, block.argument());
    var value = new TemplateParser(text, block.argument(), absent).parse();
    boolean moves = !block.word().equals("if");
    var body = parts(block.body(), text, moves ? Set.of() : absent);
    var otherwise = parts(block.otherwise(), text, absent);
    return block.word().equals("range")
        ? (scope, to) -> range(value.value(scope), scope, body, otherwise, to)
        : (scope, to) -> {
          var found = value.value(scope);
          if (TemplateFunctions.isTrue(found)) {
            write(body, moves ? new Scope(scope.root(), found) : scope, to);
          } else {
            write(otherwise, scope, to);
          }
        };
  }

  private static void range(@Nullable Object over, Scope scope, List<Part> body,
      List<Part> otherwise, StringBuilder to) throws TemplateException {
    var each = TemplateFunctions.elements(over);
    for (var element : each) {
      write(body, new Scope(scope.root(), element), to);
    }
    if (each.isEmpty()) {
      write(otherwise, scope, to);
    }
  }

  private static void refuse(String word, String text, Node.Action action)
      throws TemplateException {
    if (UNSUPPORTED.contains(word)) {
      throw TemplateException.at("{{" + word + "}} is not supported; there are " + STATEMENTS, text,
          action.at());
    }
  }
}
