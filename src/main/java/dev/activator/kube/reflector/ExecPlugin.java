package dev.activator.kube.reflector;

import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.api.model.ExecEnvVar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A command that prints credentials for the API: {@code exec} of a kubeconfig's user.
 *
 * <p><b>Source.</b> {@code validateAuthInfo} and the package {@code exec} of client-go.
 *
 * @param apiVersion what it has to answer in
 * @param command with its arguments
 * @param environment what is added to this process's environment
 * @param installHint what a person does if the command is missing; empty if unknown
 */
public record ExecPlugin(String apiVersion, List<String> command, Map<String, String> environment,
    String installHint) {
  private static final String GROUP = "client.authentication.k8s.io/";
  /** The extension of a cluster that a command gets as {@code config}. */
  public static final String EXTENSION = GROUP + "exec";
  private static final String V1 = GROUP + "v1";
  private static final Set<String> VERSIONS = Set.of(V1, GROUP + "v1beta1");
  private static final Set<String> MODES = Set.of("Never", "IfAvailable", "Always");
  private static final String INFO = "KUBERNETES_EXEC_INFO";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * @param kubeconfig the file, to which relative paths refer
   * @throws IllegalArgumentException if the plugin cannot be used; the message says what to change
   * @throws IOException if the cluster's authority cannot be read
   */
  public static ExecPlugin of(ExecConfig exec, Cluster cluster, Path kubeconfig)
      throws IOException {
    var name = exec.getCommand();
    if (name == null) {
      throw new IllegalArgumentException("the exec of its user has no 'command'");
    }
    if (exec.getApiVersion() == null || !VERSIONS.contains(exec.getApiVersion())) {
      throw new IllegalArgumentException("the exec of its user has apiVersion '"
          + Objects.requireNonNullElse(exec.getApiVersion(), "") + "', which must be " + V1
          + " or " + GROUP + "v1beta1");
    }
    checkMode(exec);
    var environment = new LinkedHashMap<String, String>();
    for (ExecEnvVar one : exec.getEnv()) {
      if (one.getName() == null) {
        throw new IllegalArgumentException("an 'env' of its user's exec has no name");
      }
      environment.put(one.getName(), one.getValue());
    }
    environment.put(INFO, info(exec, cluster, kubeconfig));
    var command = new ArrayList<String>();
    command.add(name.contains("/") ? kubeconfig.resolveSibling(name).toString() : name);
    command.addAll(exec.getArgs());
    return new ExecPlugin(exec.getApiVersion(), List.copyOf(command), Map.copyOf(environment),
        Objects.requireNonNullElse(exec.getInstallHint(), "").strip());
  }

  private static void checkMode(ExecConfig exec) {
    var mode = exec.getInteractiveMode();
    if (mode == null ? exec.getApiVersion().equals(V1) : !MODES.contains(mode)) {
      throw new IllegalArgumentException("the exec of its user has interactiveMode '"
          + Objects.requireNonNullElse(mode, "") + "', which must be Never or IfAvailable");
    }
    if ("Always".equals(mode)) {
      throw new IllegalArgumentException("the exec of its user has interactiveMode 'Always', but"
          + " the activator has no terminal: it must be Never or IfAvailable");
    }
  }

  /** The text of {@code KUBERNETES_EXEC_INFO}: that there is no terminal, and the cluster if the kubeconfig says so. */
  private static String info(ExecConfig exec, Cluster cluster, Path kubeconfig)
      throws IOException {
    var spec = new LinkedHashMap<String, Object>();
    if (Boolean.TRUE.equals(exec.getProvideClusterInfo())) {
      var described = new LinkedHashMap<String, @Nullable Object>();
      described.put("server", cluster.getServer());
      described.put("tls-server-name", cluster.getTlsServerName());
      described.put("insecure-skip-tls-verify",
          Boolean.TRUE.equals(cluster.getInsecureSkipTlsVerify()) ? true : null);
      described.put("certificate-authority-data", authority(cluster, kubeconfig));
      described.put("proxy-url", cluster.getProxyUrl());
      described.put("config",
          Stream.ofNullable(cluster.getExtensions()).flatMap(List::stream)
              .filter(one -> EXTENSION.equals(one.getName())).findFirst()
              .map(one -> one.getExtension()).orElse(null));
      described.values().removeIf(Objects::isNull);
      spec.put("cluster", described);
    }
    spec.put("interactive", false);
    var info = new LinkedHashMap<String, Object>();
    info.put("kind", "ExecCredential");
    info.put("apiVersion", exec.getApiVersion());
    info.put("spec", spec);
    return JSON.writeValueAsString(info);
  }

  private static @Nullable String authority(Cluster cluster, Path kubeconfig) throws IOException {
    return cluster.getCertificateAuthorityData() != null
        || cluster.getCertificateAuthority() == null
            ? cluster.getCertificateAuthorityData()
            : Base64.getEncoder().encodeToString(
                Files.readAllBytes(kubeconfig.resolveSibling(cluster.getCertificateAuthority())));
  }

  /** The command's name, without its arguments, which may be secrets. */
  String name() {
    return command.getFirst();
  }
}
