package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindingPostProcessor;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.webflux.autoconfigure.WebFluxProperties;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.type.MethodMetadata;
import org.springframework.mock.env.MockEnvironment;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.CachingMetadataReaderFactory;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** What {@link ActivatorConfiguration} relies on to leave work out of the start. */
class BootSettingsTest {
  /** Reads class files: some need libraries that are not there to be loaded. */
  private final MetadataReaderFactory files = new CachingMetadataReaderFactory();
  private final List<AnnotationMetadata> configurations = Stream.concat(
      Arrays.stream(
          ActivatorConfiguration.class.getAnnotation(ImportAutoConfiguration.class).value()),
      Arrays.stream(ActivatorConfiguration.class.getAnnotation(Import.class).value()))
      .map(Class::getName).flatMap(this::withNested).toList();

  /** The name of such a bean does not end with its class. */
  @Test
  void noMethodMakesABeanOfSettings() {
    assertThat(configurations).filteredOn(type -> type.hasAnnotatedMethods(Bean.class.getName()))
        .hasSizeGreaterThan(20);
    assertThat(configurations)
        .noneMatch(type -> type.hasAnnotatedMethods(ConfigurationProperties.class.getName()));
    assertThat(configurations.stream()
        .flatMap(type -> type.getAnnotatedMethods(Bean.class.getName()).stream())
        .map(MethodMetadata::getReturnTypeName).distinct().filter(this::isOfSettings)).isEmpty();
  }

  @Test
  void noBeanHasAValueAsItsParameter() {
    assertThat(configurations).noneMatch(this::usesValues);
  }

  @Test
  void bindsWhatIsSet_andLeavesTheDefaultsOfOthers() {
    var environment = new MockEnvironment().withProperty("spring.webflux.base-path", "/set")
        .withProperty("server.port", "1");
    try (var context = new GenericApplicationContext()) {
      context.setEnvironment(environment);
      ConfigurationPropertySources.attach(environment);
      ConfigurationPropertiesBindingPostProcessor.register(context.getDefaultListableBeanFactory());
      context.removeBeanDefinition(ConfigurationPropertiesBindingPostProcessor.BEAN_NAME);
      context.registerBean(ConfigurationPropertiesBindingPostProcessor.BEAN_NAME,
          ActivatorConfiguration.SettingsThatAreSet.class);
      for (var type : List.of(WebFluxProperties.class, ServerProperties.class,
          LifecycleProperties.class)) {
        context.registerBean(
            type.getAnnotation(ConfigurationProperties.class).value() + "-" + type.getName(), type);
      }
      context.refresh();

      assertThat(context.getBean(WebFluxProperties.class).getBasePath()).isEqualTo("/set");
      assertThat(context.getBean(ServerProperties.class).getPort()).isEqualTo(1);
      assertThat(context.getBean(LifecycleProperties.class).getTimeoutPerShutdownPhase())
          .isEqualTo(new LifecycleProperties().getTimeoutPerShutdownPhase());
    }
  }

  private boolean isOfSettings(String type) {
    try {
      return files.getMetadataReader(type).getAnnotationMetadata()
          .hasAnnotation(ConfigurationProperties.class.getName());
    } catch (IOException e) {
      // A primitive type, or of a library that is not there.
      return false;
    }
  }

  private boolean usesValues(AnnotationMetadata type) {
    try (var content = files.getMetadataReader(type.getClassName()).getResource()
        .getInputStream()) {
      return new String(content.readAllBytes(), StandardCharsets.ISO_8859_1)
          .contains(Value.class.getName().replace('.', '/'));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Stream<AnnotationMetadata> withNested(String type) {
    try {
      var metadata = files.getMetadataReader(type).getAnnotationMetadata();
      return Stream.concat(Stream.of(metadata),
          Arrays.stream(metadata.getMemberClassNames()).flatMap(this::withNested));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
