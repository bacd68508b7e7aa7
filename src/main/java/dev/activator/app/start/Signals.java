package dev.activator.app.start;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The signals that mean "end". The runtime's own answer to them leaves no exit code to choose, and
 * does not hear the second.
 *
 * <p>
 * By reflection, as the compiler warns of {@code sun.misc} whatever one does; its module, {@code
 * jdk.unsupported}, is there to be used.
 */
public final class Signals {
  private static final Logger log = LoggerFactory.getLogger(Signals.class);
  private static final List<String> NAMES = List.of("TERM", "INT");

  private Signals() {}

  /** Calls the handler with the name of each signal, on a thread of its own. */
  public static void handle(Consumer<String> handler) {
    try {
      var signal = Class.forName("sun.misc.Signal");
      var handlerType = Class.forName("sun.misc.SignalHandler");
      for (var name : NAMES) {
        var proxy = Proxy.newProxyInstance(Signals.class.getClassLoader(),
            new Class<?>[]{handlerType}, (self, method, arguments) -> switch (method.getName()) {
              case "handle" -> {
                handler.accept(name);
                yield null;
              }
              case "equals" -> self == arguments[0];
              case "hashCode" -> System.identityHashCode(self);
              default -> name;
            });
        signal.getMethod("handle", signal, handlerType).invoke(null,
            signal.getConstructor(String.class).newInstance(name), proxy);
      }
    } catch (ReflectiveOperationException | RuntimeException unsupported) {
      log.info("Signals end this process as the runtime has it: {}", unsupported.toString());
    }
  }
}
