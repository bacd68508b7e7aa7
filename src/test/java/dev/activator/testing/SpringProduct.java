package dev.activator.testing;

import java.util.stream.Stream;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;

/** Starts the product beside other tests: it leaves alone the log, and the event loops that a process has once. */
public final class SpringProduct {
  private SpringProduct() {}

  public static SpringApplicationBuilder of(Class<?> mode, Stream<Class<?>> extensions) {
    var builder = new SpringApplicationBuilder(
        Stream.concat(Stream.of(mode), extensions).toArray(Class[]::new))
        .logStartupInfo(false)
        .initializers(context -> ((GenericApplicationContext) context)
            .registerBean(ReactorResourceFactory.class, SpringProduct::ownLoops));
    var application = builder.application();
    application.setListeners(application.getListeners().stream()
        .filter(listener -> !(listener instanceof LoggingApplicationListener)).toList());
    return builder;
  }

  /** The end of a context ends the loops. */
  private static ReactorResourceFactory ownLoops() {
    var factory = new ReactorResourceFactory();
    factory.setUseGlobalResources(false);
    return factory;
  }
}
