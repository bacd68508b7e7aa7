package dev.activator.kube;

import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.ReflectorContext;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.SharedInformers;
import dev.activator.loop.Loop;
import dev.activator.testing.TestValues;
import java.net.URI;
import java.util.Random;

/** Sessions on a test's loop. */
public final class Sessions {
  private Sessions() {}

  public static KubernetesSession of(String url, Loop loop, ReflectorSettings settings,
      Random random) {
    var api = api(url);
    return new KubernetesSession(api, loop, () -> {
    }, new SharedInformers(api,
        new ReflectorContext(loop, settings, random, new ApiErrorText(url))));
  }

  /** A session whose client is never used. */
  public static KubernetesSession of(SharedInformers informers, Loop loop) {
    return new KubernetesSession(api("http://127.0.0.1:1"), loop, () -> {
    }, informers);
  }

  public static KubernetesApiClient api(String url) {
    return TestValues.kubernetesApi(
        KubernetesClientFactory.configured(new ClusterAccess.At(URI.create(url))));
  }
}
