package dev.activator.standalone.policy;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What is known of a ConfigMap or Secret with certificates of authorities. */
public sealed interface CaObject {
  /** @param keys the certificates of each key */
  record Found(Map<String, Certificates> keys) implements CaObject {
    public Found {
      keys = Map.copyOf(keys);
    }
  }

  /** @param isBroken whether a certificate cannot be parsed, or there is none */
  record Certificates(List<Certificate> all, boolean isBroken) {
    public Certificates {
      all = List.copyOf(all);
    }
  }

  /** @param end when it expires */
  record Certificate(String pem, Instant end) {}

  record Missing() implements CaObject {}

  /** @param why for people */
  record Unreadable(String why) implements CaObject {}

  enum Kind {
    CONFIG_MAP("ConfigMap"),
    SECRET("Secret");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** The kind as in a manifest. */
    public String text() {
      return text;
    }
  }

  record Name(Kind kind, String namespace, String name) {
    @Override
    public String toString() {
      return kind.text + " " + namespace + "/" + name;
    }
  }
}
