package dev.activator.standalone.decode;

import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.CaObject;
import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.standalone.policy.PodTlsSettings;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ScaledService.ServiceRef;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.standalone.policy.ConnectionPorts;
import dev.activator.standalone.policy.ConnectionPorts.ConnectionPort;
import dev.activator.config.ColdStartRulesReader;
import dev.activator.config.RevisionAnnotations;
import dev.activator.standalone.policy.LoadTarget;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.WakeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads a ScaledService. The schema of the CustomResourceDefinition already refuses most invalid
 * values.
 */
final class ScaledServiceReader implements WatchedObjectReader<ScaledService> {
  private static final int WINDOW_SECONDS = 60;
  private static final String CA_KEY = "ca.crt";
  private static final String SYSTEM = "System";
  private static final ScaledServiceStatusReader.Read NO_STATUS = new ScaledServiceStatusReader.Read(
      new ScaledServiceStatus(OptionalInt.empty(), OptionalInt.empty(), 0, List.of()), null);

  private ScaleTarget workload = new ScaleTargetRef("", "", "");
  private String service = "";
  private String port = "";
  private final List<String> hosts = new ArrayList<>(2);
  private @Nullable Object routes;
  private final List<String> wakeWith = new ArrayList<>(2);
  private final List<ConnectionPort> tcpPorts = new ArrayList<>(1);
  private int minReplicas;
  private int maxReplicas;
  private int concurrency;
  private int requestsPerSecond;
  private int queueMilliseconds;
  private int containerConcurrency;
  private int timeoutSeconds;
  private int windowSeconds;
  private final Map<String, Object> forRules = new LinkedHashMap<>(2);
  private final Map<String, Object> forWarmTimes = new LinkedHashMap<>(2);
  private final Map<String, String> forExtensions = new HashMap<>(2);
  private final List<String> conflictsWith = new ArrayList<>(1);
  private int yieldAfterSeconds;
  private @Nullable Map<?, ?> idle;
  private boolean catchService;
  private @Nullable PodTlsSettings tls;
  private ScaledServiceStatusReader.Read status = NO_STATUS;

  @Override
  public void field(String name, JsonCursor in) {
    switch (name) {
      case "spec" -> spec(in);
      case "status" -> status = ScaledServiceStatusReader.read(in);
    }
  }

  private void spec(JsonCursor in) {
    for (var field : in.fields()) {
      switch (field) {
        case "scaleTargetRef" -> workload = HpaReader.target(in);
        case "wake" -> wake(in);
        case "idle" -> idle = in.tree() instanceof Map<?, ?> fields ? fields : null;
        case "serviceRef" -> service(in);
        case "hosts" -> {
          for (var _ : in.items()) {
            hosts.add(in.text().toLowerCase(Locale.ROOT));
          }
        }
        case "ports" -> {
          for (var _ : in.items()) {
            tcpPort(in);
          }
        }
        case "rules" -> routes = in.tree();
        case "wakeWith" -> {
          for (var _ : in.items()) {
            var name = in.text();
            if (name.matches("[^.]+([.][^.]+)?")) {
              wakeWith.add(name);
            } else {
              in.remark("'" + name + "' in spec.wakeWith");
            }
          }
        }
        case "conflictsWith" -> {
          for (var _ : in.items()) {
            conflictsWith.add(in.text());
          }
        }
        case "yieldAfterSeconds" -> yieldAfterSeconds = in.count(0);
        case "tls" -> tls = in.isPresent() ? tls(in) : null;
        case "catchService" -> catchService = Boolean.TRUE.equals(in.truth());
        case "minReplicas" -> minReplicas = in.count(0);
        case "maxReplicas" -> maxReplicas = in.count(0);
        case "target" -> {
          for (var one : in.fields()) {
            switch (one) {
              case "concurrency" -> concurrency = in.count(0);
              case "requestsPerSecond" -> requestsPerSecond = in.count(0);
              case "queueMilliseconds" -> queueMilliseconds = in.count(0);
            }
          }
        }
        case "containerConcurrency" -> containerConcurrency = in.count(0);
        case "timeoutSeconds" -> timeoutSeconds = in.count(0);
        case "scaleDown" -> {
          for (var one : in.fields()) {
            windowSeconds = one.equals("stabilizationWindowSeconds") ? in.count(0) : windowSeconds;
          }
        }
        default -> {
          if (ColdStartRulesReader.reads(field) && in.tree() instanceof Object value) {
            forRules.put(field, value);
          } else if (KeepWarmSettingsReader.reads(field) && in.tree() instanceof Object value) {
            forWarmTimes.put(field, value);
          } else if (RevisionAnnotations.isOfExtension(field)) {
            forExtensions.putAll(RevisionAnnotations.ofField(field, in.texts()));
          }
        }
      }
    }
  }

  private void wake(JsonCursor in) {
    for (var field : in.fields()) {
      if (in.tree() instanceof Map<?, ?> fields) {
        workload = new WakeSpec(field, fields);
      }
    }
  }

  private void service(JsonCursor in) {
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> service = in.text();
        case "port" -> port = port(in);
      }
    }
  }

  private static String port(JsonCursor in) {
    var port = in.anyText();
    if (port.isEmpty()) {
      in.problem(in.wrong("a name or a number of a port"));
    }
    return port;
  }

  private void tcpPort(JsonCursor in) {
    var name = "";
    var sni = new ArrayList<String>(0);
    ReadinessProbeSpec.ExpectedAnswer answer = null;
    var settings = new HashMap<String, String>(0);
    for (var field : in.fields()) {
      switch (field) {
        case "port" -> name = port(in);
        case "sni" -> {
          for (var _ : in.items()) {
            sni.add(in.text().toLowerCase(Locale.ROOT));
          }
        }
        case "readinessProbe" -> answer = answer(in);
        // It is the only protocol.
        case "protocol" -> in.text();
        default -> {
          var value = in.anyText();
          if (value.isEmpty()) {
            in.problem(in.wrong("a number, a text or a truth value"));
          }
          settings.put(field, value);
        }
      }
    }
    tcpPorts
        .add(new ConnectionPort(name, sni, answer, RevisionAnnotations.ofField("tcp", settings)));
  }

  private static ReadinessProbeSpec.ExpectedAnswer answer(JsonCursor in) {
    var send = "";
    var expect = "";
    for (var field : in.fields()) {
      switch (field) {
        case "send" -> send = in.text();
        case "expect" -> expect = in.text();
      }
    }
    return new ReadinessProbeSpec.ExpectedAnswer(send, expect);
  }

  private static PodTlsSettings tls(JsonCursor in) {
    var authorities = new ArrayList<PodTlsSettings.CaReference>(1);
    boolean trustsSystem = false;
    var hostname = "";
    for (var field : in.fields()) {
      switch (field) {
        case "caCertificateRefs" -> {
          for (var _ : in.items()) {
            authorities.add(caReference(in));
          }
        }
        case "wellKnownCACertificates" -> trustsSystem = in.text().equals(SYSTEM);
        case "hostname" -> hostname = in.text();
      }
    }
    return new PodTlsSettings(authorities, trustsSystem, hostname);
  }

  private static PodTlsSettings.CaReference caReference(JsonCursor in) {
    var kind = CaObject.Kind.CONFIG_MAP;
    var name = "";
    var key = CA_KEY;
    for (var field : in.fields()) {
      switch (field) {
        case "kind" -> kind = in.text().equals(CaObject.Kind.SECRET.text())
            ? CaObject.Kind.SECRET
            : CaObject.Kind.CONFIG_MAP;
        case "name" -> name = in.text();
        case "key" -> key = in.text();
      }
    }
    return new PodTlsSettings.CaReference(kind, name, key);
  }

  @Override
  public ScaledService decoded(DecodedMetadata metadata, JsonCursor in) {
    require(workload.kind(), "scaleTargetRef.kind", in);
    require(workload.name(), "scaleTargetRef.name", in);
    require(service, "serviceRef.name", in);
    var tcp = new ConnectionPorts(tcpPorts, !port.isEmpty());
    if (!tcp.besideHttp() && !tcpPorts.isEmpty()) {
      port = tcpPorts.getFirst().name();
    }
    require(port, "serviceRef.port", in);
    if (concurrency == 0 && requestsPerSecond == 0 && containerConcurrency == 0) {
      in.problem("spec.target.concurrency, spec.target.requestsPerSecond or"
          + " spec.containerConcurrency must be at least 1");
    }
    var rules = ColdStartRulesReader.read(forRules, metadata.annotations());
    if (rules != null) {
      rules.problems().forEach(problem -> in.remark(problem + "; it is ignored"));
    }
    var read = ScaledServiceRulesReader.read(routes);
    read.problems().forEach(problem -> in.remark(problem + "; it is ignored"));
    var warmTimes = KeepWarmSettingsReader.read(forWarmTimes);
    warmTimes.problems().forEach(problem -> in.remark(problem + "; it is ignored"));
    var annotations = new HashMap<>(metadata.annotations());
    annotations.putAll(forExtensions);
    return new ScaledService(new RevisionId(metadata.namespace(), metadata.name()),
        metadata.uid(), metadata.created(), metadata.generation(), workload,
        new ServiceRef(service, port, tls), hosts,
        read.rules(), read.problems(), minReplicas, positive(maxReplicas),
        new LoadTarget(positive(concurrency), positive(requestsPerSecond),
            positive(queueMilliseconds)),
        containerConcurrency,
        timeoutSeconds == 0
            ? RequestTimeouts.DEFAULT.overall()
            : Duration.ofSeconds(timeoutSeconds),
        Duration.ofSeconds(windowSeconds == 0 ? WINDOW_SECONDS : windowSeconds), wakeWith,
        metadata.labels(), annotations, rules, warmTimes, catchService, tcp,
        conflicts(metadata.namespace()), new IdleSpec(idle, status.idle()), status.status());
  }

  private ConflictSpec conflicts(String namespace) {
    return new ConflictSpec(
        conflictsWith.stream().filter(name -> !name.isEmpty())
            .map(name -> new RevisionId(namespace, name)).collect(Collectors.toSet()),
        yieldAfterSeconds == 0
            ? ConflictSpec.DEFAULT_YIELD_AFTER
            : Duration.ofSeconds(yieldAfterSeconds));
  }

  private static void require(String text, String field, JsonCursor in) {
    if (text.isEmpty()) {
      in.problem("spec." + field + " is missing");
    }
  }

  private static OptionalInt positive(int number) {
    return number > 0 ? OptionalInt.of(number) : OptionalInt.empty();
  }
}
