package dev.activator.cluster.informer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ObjectKeyTest {
  @Test
  @DisplayName("4.1 reads what it writes, with a namespace and without")
  void readsWhatItWrites() {
    assertThat(ObjectKey.parse("default/hello")).isEqualTo(new ObjectKey("default", "hello"))
        .hasToString("default/hello");
    assertThat(ObjectKey.parse("node-1")).isEqualTo(new ObjectKey("", "node-1"))
        .hasToString("node-1");
  }

  @Test
  @DisplayName("4.1 refuses more than one slash")
  void refusesMoreThanOneSlash() {
    assertThatThrownBy(() -> ObjectKey.parse("a/b/c")).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("\"a/b/c\" is no key: it has more than one slash");
  }
}
