package dev.activator.cluster;

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
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Reads a kubeconfig. The client library's own reader loads 1,300 classes, those of all kinds of objects among
 * them: a tenth of a start.
 */
final class KubeconfigReader {
  /** Where the library looks up the file: for relative paths, and to read a new token. */
  private static final String CONTEXT_FILE = "KUBERNETES_CONFIG_CONTEXT_FILE_KEY";
  private static final String CLUSTER_FILE = "KUBERNETES_CONFIG_CLUSTER_FILE_KEY";
  private static final String USER_FILE = "KUBERNETES_CONFIG_AUTH_INFO_FILE_KEY";

  private KubeconfigReader() {}

  /** @throws IllegalArgumentException if it cannot be read, saying why */
  static Config read(Path path) {
    var file = path.toFile();
    var root = parse(path);
    var config = new Config();
    config.setCurrentContext(text(root, "current-context"));
    config.setContexts(list(root, "contexts", named -> {
      var context = new NamedContext();
      context.setName(text(named, "name"));
      context.setContext(context(named.path("context")));
      context.setAdditionalProperty(CONTEXT_FILE, file);
      return context;
    }));
    config.setClusters(list(root, "clusters", named -> {
      var cluster = new NamedCluster();
      cluster.setName(text(named, "name"));
      cluster.setCluster(cluster(named.path("cluster")));
      cluster.setAdditionalProperty(CLUSTER_FILE, file);
      return cluster;
    }));
    config.setUsers(list(root, "users", named -> {
      var user = new NamedAuthInfo();
      user.setName(text(named, "name"));
      user.setUser(user(named.path("user")));
      user.setAdditionalProperty(USER_FILE, file);
      return user;
    }));
    return config;
  }

  private static JsonNode parse(Path path) {
    try {
      return YAMLMapper.builder().build().readTree(path);
    } catch (JacksonException malformed) {
      // Neither the message nor the cause: they quote the line, which may be a token.
      throw new IllegalArgumentException(
          "it is not YAML: look at line " + malformed.getLocation().getLineNr());
    }
  }

  private static Context context(JsonNode from) {
    var context = new Context();
    context.setCluster(text(from, "cluster"));
    context.setUser(text(from, "user"));
    context.setNamespace(text(from, "namespace"));
    return context;
  }

  private static Cluster cluster(JsonNode from) {
    var cluster = new Cluster();
    cluster.setServer(text(from, "server"));
    cluster.setTlsServerName(text(from, "tls-server-name"));
    cluster.setInsecureSkipTlsVerify(from.path("insecure-skip-tls-verify").asBoolean(false));
    cluster.setCertificateAuthority(text(from, "certificate-authority"));
    cluster.setCertificateAuthorityData(text(from, "certificate-authority-data"));
    cluster.setProxyUrl(text(from, "proxy-url"));
    return cluster;
  }

  private static AuthInfo user(JsonNode from) {
    var user = new AuthInfo();
    user.setClientCertificate(text(from, "client-certificate"));
    user.setClientCertificateData(text(from, "client-certificate-data"));
    user.setClientKey(text(from, "client-key"));
    user.setClientKeyData(text(from, "client-key-data"));
    user.setToken(text(from, "token"));
    user.setUsername(text(from, "username"));
    user.setPassword(text(from, "password"));
    if (from.path("exec").isObject()) {
      user.setExec(exec(from.path("exec")));
    }
    if (from.path("auth-provider").isObject()) {
      user.setAuthProvider(provider(from.path("auth-provider")));
    }
    return user;
  }

  private static ExecConfig exec(JsonNode from) {
    var exec = new ExecConfig();
    exec.setApiVersion(text(from, "apiVersion"));
    exec.setCommand(text(from, "command"));
    exec.setArgs(list(from, "args", JsonNode::asString));
    exec.setEnv(list(from, "env",
        one -> new ExecEnvVar(text(one, "name"), text(one, "value"))));
    return exec;
  }

  private static AuthProviderConfig provider(JsonNode from) {
    var settings = new HashMap<String, String>();
    from.path("config").properties()
        .forEach(entry -> settings.put(entry.getKey(), entry.getValue().asString()));
    return new AuthProviderConfig(settings, text(from, "name"));
  }

  private static <T> List<T> list(JsonNode from, String field, Function<JsonNode, T> element) {
    return from.path(field).valueStream().map(element).toList();
  }

  private static @Nullable String text(JsonNode from, String field) {
    var value = from.path(field);
    return value.isMissingNode() || value.isNull() ? null : value.asString();
  }
}
