package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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

/** {@link ActivatorConfiguration.AnnotatedClassesOnly} binds the settings of annotated classes only. */
class BootSettingsTest {
  /** Reads class files: some need libraries that are not there to be loaded. */
  private final MetadataReaderFactory files = new CachingMetadataReaderFactory();

  @Test
  void noBeanHasItsSettingsAnnotatedAtItsMethod() {
    var configurations = Stream.concat(
        Arrays.stream(
            ActivatorConfiguration.class.getAnnotation(ImportAutoConfiguration.class).value()),
        Arrays.stream(ActivatorConfiguration.class.getAnnotation(Import.class).value()))
        .map(Class::getName).flatMap(this::withNested).toList();

    assertThat(configurations).filteredOn(type -> type.hasAnnotatedMethods(Bean.class.getName()))
        .hasSizeGreaterThan(20);
    assertThat(configurations)
        .noneMatch(type -> type.hasAnnotatedMethods(ConfigurationProperties.class.getName()));
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
