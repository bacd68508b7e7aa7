import com.marcnuri.helm.Helm;
import com.marcnuri.helm.Release;
import com.marcnuri.helm.UninstallCommand;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** The calls of Helm's library: each row is a line of JSON, its title and what the program saw. Arguments: a small chart, and this project's. */
class HelmCalls {
  private static final Path KUBECONFIG = Path.of(System.getenv("KUBECONFIG"));
  private static final KubernetesClient CLIENT = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(KUBECONFIG.toFile())).build();

  static void call(String title, Callable<?> call) {
    Object value;
    try {
      value = Map.of("value", call.call());
    } catch (Exception e) {
      value = Map.of("error", String.valueOf(e.getMessage()));
    }
    System.out.println(new KubernetesSerialization().asJson(List.of(title, value)));
  }

  static List<String> release(Release release) {
    return List.of(release.getName(), release.getRevision(), release.getStatus(), release.getChart());
  }

  static void main(String[] arguments) {
    call("version", () -> Helm.version().call());
    small(arguments[0]);
    ours(arguments[1]);
    System.exit(0);
  }

  /** The color is the field that changes; another client may set it, too. */
  private static void upgrade(String title, String chart, String... values) {
    call(title, () -> {
      var command = Helm.upgrade(chart).withName("small").withNamespace("helm").withKubeConfig(KUBECONFIG).resetValues();
      for (int at = 0; at < values.length; at += 2) {
        command = command.set(values[at], values[at + 1]);
      }
      return release(command.call());
    });
    call(title + ": the map", () -> CLIENT.configMaps().inNamespace("helm").withName("small").get());
    call(title + ": the deployment", () -> CLIENT.apps().deployments().inNamespace("helm").withName("small").get());
  }

  private static void small(String chart) {
    call("install", () -> release(Helm.install(chart).withName("small").withNamespace("helm").createNamespace().withKubeConfig(KUBECONFIG).set("color", "red").call()));
    call("install again", () -> release(Helm.install(chart).withName("small").withNamespace("helm").withKubeConfig(KUBECONFIG).call()));
    upgrade("upgrade", chart, "color", "blue");
    upgrade("upgrade that changes nothing", chart, "color", "blue");
    upgrade("upgrade that fails", chart, "color", "green", "name", "UPPER");
    upgrade("upgrade back to the first values", chart, "color", "red");
    CLIENT.configMaps().inNamespace("helm").withName("small").edit(one -> new ConfigMapBuilder(one).addToData("color", "by hand").addToData("more", "by hand").build());
    upgrade("upgrade after another client's change, the same values", chart, "color", "red");
    upgrade("upgrade after another client's change, other values", chart, "color", "blue");
    CLIENT.configMaps().inNamespace("helm").withName("small").delete();
    upgrade("upgrade after another client's deletion", chart, "color", "blue");
    call("upgrade, dry run", () -> release(Helm.upgrade(chart).withName("small").withNamespace("helm").withKubeConfig(KUBECONFIG).dryRun().set("color", "green").call()));
    call("history", () -> Helm.history("small").withNamespace("helm").withKubeConfig(KUBECONFIG).call().stream()
        .map(one -> one.getRevision() + " " + one.getStatus() + " " + one.getDescription()).toList());
    call("list", () -> Helm.list().withNamespace("helm").withKubeConfig(KUBECONFIG).call().stream().map(HelmCalls::release).toList());
    call("uninstall", () -> Helm.uninstall("small").withNamespace("helm").withKubeConfig(KUBECONFIG).withCascade(UninstallCommand.Cascade.FOREGROUND).call());
    call("uninstall: what is left", () -> CLIENT.configMaps().inNamespace("helm").list().getItems().stream().map(one -> one.getMetadata().getName())
        .filter(name -> !name.endsWith(".crt")).toList());
    call("uninstall again", () -> Helm.uninstall("small").withNamespace("helm").withKubeConfig(KUBECONFIG).call());
  }

  private static void ours(String chart) {
    call("our chart, install", () -> release(Helm.install(chart).withName("activator").withNamespace("activator").createNamespace().withKubeConfig(KUBECONFIG).set("mode", "standalone").call()));
    call("our chart, upgrade", () -> release(Helm.upgrade(chart).withName("activator").withNamespace("activator").withKubeConfig(KUBECONFIG).set("mode", "standalone").set("replicas", 3).call()));
    call("our chart, uninstall", () -> Helm.uninstall("activator").withNamespace("activator").withKubeConfig(KUBECONFIG).call());
  }
}
