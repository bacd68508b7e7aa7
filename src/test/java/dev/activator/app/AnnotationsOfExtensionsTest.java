package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.RevisionAnnotations;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** The list of the extensions that read annotations. */
class AnnotationsOfExtensionsTest {
  /** A line that stays after a folder is deleted would end the start. */
  @Test
  void namesExtensionsOfThisBuildOnly() {
    var installed = Extensions.ALL.stream().map(Class::getPackageName).toList();

    assertThat(ServiceLoader.load(RevisionAnnotations.OfExtension.class)).isNotEmpty()
        .allSatisfy(each -> assertThat(installed)
            .anyMatch(folder -> each.getClass().getPackageName().startsWith(folder)));
  }
}
