package dev.activator.kube;

import dev.activator.kube.reflector.ExecPlugin;
import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.AuthProviderConfig;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.Config;
import io.fabric8.kubernetes.api.model.Context;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.api.model.ExecEnvVar;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.api.model.NamedExtension;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Reads a kubeconfig with the YAML library that Spring uses for settings. The reader of the client
 * library would load five times as many classes, and need half a second more CPU time at the start.
 */
final class KubeconfigReader {
  /**
   * The key under which the library finds the path of the file, to resolve relative paths and to
   * read a new token.
   */
  private static final String CONTEXT_FILE = "KUBERNETES_CONFIG_CONTEXT_FILE_KEY";
  private static final String CLUSTER_FILE = "KUBERNETES_CONFIG_CLUSTER_FILE_KEY";
  private static final String USER_FILE = "KUBERNETES_CONFIG_AUTH_INFO_FILE_KEY";

  private KubeconfigReader() {}

  /** @throws IllegalArgumentException if it cannot be read; the message has the reason */
  static Config read(Path path) {
    var file = path.toFile();
    var root = parse(path);
    var config = new Config();
    config.setCurrentContext(text(root, "current-context"));
    config.setContexts(list(root, "contexts", named -> {
      var context = new NamedContext();
      context.setName(text(named, "name"));
      context.setContext(context(field(named, "context")));
      context.setAdditionalProperty(CONTEXT_FILE, file);
      return context;
    }));
    config.setClusters(list(root, "clusters", named -> {
      var cluster = new NamedCluster();
      cluster.setName(text(named, "name"));
      cluster.setCluster(cluster(field(named, "cluster")));
      cluster.setAdditionalProperty(CLUSTER_FILE, file);
      return cluster;
    }));
    config.setUsers(list(root, "users", named -> {
      var user = new NamedAuthInfo();
      user.setName(text(named, "name"));
      user.setUser(user(field(named, "user")));
      user.setAdditionalProperty(USER_FILE, file);
      return user;
    }));
    return config;
  }

  private static @Nullable Node parse(Path path) {
    try (var reader = Files.newBufferedReader(path)) {
      // If there are several documents, the first is read, as in kubectl.
      var documents = new Yaml().composeAll(reader).iterator();
      return documents.hasNext() ? documents.next() : null;
    } catch (MarkedYAMLException e) {
      // The message and the cause are left out, because they quote the line, which may contain a
      // token.
      throw new IllegalArgumentException(
          "it is not YAML: look at line " + (e.getProblemMark().getLine() + 1));
    } catch (YAMLException e) {
      throw new IllegalArgumentException("it is not YAML");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Context context(@Nullable Node from) {
    var context = new Context();
    context.setCluster(text(from, "cluster"));
    context.setUser(text(from, "user"));
    context.setNamespace(text(from, "namespace"));
    return context;
  }

  private static Cluster cluster(@Nullable Node from) {
    var cluster = new Cluster();
    cluster.setServer(text(from, "server"));
    cluster.setTlsServerName(text(from, "tls-server-name"));
    cluster
        .setInsecureSkipTlsVerify("true".equalsIgnoreCase(text(from, "insecure-skip-tls-verify")));
    cluster.setCertificateAuthority(text(from, "certificate-authority"));
    cluster.setCertificateAuthorityData(text(from, "certificate-authority-data"));
    cluster.setProxyUrl(text(from, "proxy-url"));
    cluster.setExtensions(list(from, "extensions", one -> {
      // Other programs keep theirs here, too; only this one is read.
      var name = text(one, "name");
      var content = ExecPlugin.EXTENSION.equals(name) ? field(one, "extension") : null;
      return new NamedExtension(content == null ? null : new NodeValue().of(content), name);
    }));
    return cluster;
  }

  /** Makes what a node says in YAML: text, numbers, lists and maps. */
  private static final class NodeValue extends SafeConstructor {
    NodeValue() {
      super(new LoaderOptions());
    }

    Object of(Node node) {
      return constructDocument(node);
    }
  }

  private static AuthInfo user(@Nullable Node from) {
    var user = new AuthInfo();
    user.setClientCertificate(text(from, "client-certificate"));
    user.setClientCertificateData(text(from, "client-certificate-data"));
    user.setClientKey(text(from, "client-key"));
    user.setClientKeyData(text(from, "client-key-data"));
    user.setToken(text(from, "token"));
    user.setTokenFile(text(from, "tokenFile"));
    user.setAs(text(from, "as"));
    user.setAsGroups(texts(from, "as-groups"));
    user.setAsUid(text(from, "as-uid"));
    if (field(from, "as-user-extra") instanceof MappingNode extras) {
      user.setAsUserExtra(extras.getValue().stream().map(NodeTuple::getKeyNode)
          .map(KubeconfigReader::text)
          .collect(
              Collectors.toMap(name -> name, name -> texts(extras, name))));
    }
    user.setUsername(text(from, "username"));
    user.setPassword(text(from, "password"));
    if (field(from, "exec") instanceof MappingNode exec) {
      user.setExec(exec(exec));
    }
    if (field(from, "auth-provider") instanceof MappingNode provider) {
      user.setAuthProvider(provider(provider));
    }
    return user;
  }

  private static ExecConfig exec(Node from) {
    var exec = new ExecConfig();
    exec.setApiVersion(text(from, "apiVersion"));
    exec.setCommand(text(from, "command"));
    exec.setArgs(texts(from, "args"));
    exec.setEnv(list(from, "env",
        one -> new ExecEnvVar(text(one, "name"),
            Objects.requireNonNullElse(text(one, "value"), ""))));
    exec.setInstallHint(text(from, "installHint"));
    exec.setInteractiveMode(text(from, "interactiveMode"));
    exec.setProvideClusterInfo("true".equalsIgnoreCase(text(from, "provideClusterInfo")));
    return exec;
  }

  private static AuthProviderConfig provider(Node from) {
    var settings = new HashMap<String, String>();
    if (field(from, "config") instanceof MappingNode config) {
      config.getValue()
          .forEach(entry -> settings.put(text(entry.getKeyNode()), text(entry.getValueNode())));
    }
    return new AuthProviderConfig(settings, text(from, "name"));
  }

  private static <T> List<T> list(@Nullable Node from, String field, Function<Node, T> element) {
    return field(from, field) instanceof SequenceNode list
        ? list.getValue().stream().map(element).toList()
        : List.of();
  }

  private static List<String> texts(@Nullable Node from, String field) {
    return list(from, field, KubeconfigReader::text);
  }

  /** The text of a field; null if it is absent or empty, as in Go. */
  private static @Nullable String text(@Nullable Node from, String field) {
    return field(from, field) instanceof ScalarNode value && !value.getTag().equals(Tag.NULL)
        && !value.getValue().isEmpty() ? value.getValue() : null;
  }

  /** The scalar as it is written, whatever its YAML type; empty if the node is no scalar. */
  private static String text(Node node) {
    return node instanceof ScalarNode scalar ? scalar.getValue() : "";
  }

  private static @Nullable Node field(@Nullable Node from, String name) {
    if (from instanceof MappingNode map) {
      for (var entry : map.getValue()) {
        if (text(entry.getKeyNode()).equals(name)) {
          return entry.getValueNode();
        }
      }
    }
    return null;
  }
}
