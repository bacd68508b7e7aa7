package dev.activator.kube.reflector;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamReadException;

/** Makes the text for a failed request to the API: one line, for operators. */
public final class ApiErrorText {
  private final String url;

  public ApiErrorText(String url) {
    this.url = url;
  }

  /**
   * @param verb a verb such as {@code list}
   * @param resource a resource as in arguments of kubectl, such as {@code endpoints -A}
   */
  public String about(String verb, String resource, Throwable failure) {
    var missing = find(CredentialsException.class, failure);
    if (missing != null) {
      return "no credentials for the Kubernetes API at " + url + ": " + missing.getMessage();
    }
    var answer = find(KubernetesApiException.class, failure);
    if (answer == null) {
      return isUnreachable(failure)
          ? "cannot reach the Kubernetes API at " + url + ": " + rootOf(failure)
          : "cannot read what the Kubernetes API at " + url + " answers to " + verb + " "
              + resource + ": " + rootOf(failure);
    }
    return switch (answer.status()) {
      case 401 ->
        "the Kubernetes API at " + url + " rejects the activator's credentials (401, on " + verb
            + " " + resource + ")";
      case 403 ->
        "the Kubernetes API at " + url + " does not allow the activator to " + verb + " " + resource
            + " (403)" + answer.colonReason();
      case 404 -> "the Kubernetes API at " + url + " has no " + resource.split(" ")[0]
          + " (404)" + switch (resource.split("[ .]")[0]) {
            case "revisions" -> "; is Knative Serving installed?";
            case "scaledservices" -> "; is the CustomResourceDefinition of the chart installed?";
            default -> "";
          };
      default ->
        "the Kubernetes API at " + url + " answers " + answer.status() + " to " + verb + " "
            + resource + answer.colonReason();
    };
  }

  /**
   * Whether the server could not be reached. An answer that is not JSON shows that something is
   * reachable.
   */
  private static boolean isUnreachable(Throwable failure) {
    return find(StreamReadException.class, failure) == null
        && (find(IOException.class, failure) != null
            || find(TimeoutException.class, failure) != null);
  }

  private static String rootOf(Throwable failure) {
    var unknown = find(UnknownHostException.class, failure);
    if (unknown != null) {
      return "unknown host " + unknown.getMessage();
    }
    if (find(ConnectException.class, failure) != null) {
      return "connection refused";
    }
    var root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    // The location is left out, which Jackson puts on a second line.
    var message = root instanceof JacksonException json
        ? json.getOriginalMessage()
        : root.getMessage();
    return message == null ? root.getClass().getSimpleName() : message;
  }

  private static <T extends Throwable> @Nullable T find(Class<T> type, Throwable failure) {
    for (Throwable one = failure; one != null; one = one.getCause()) {
      if (type.isInstance(one)) {
        return type.cast(one);
      }
    }
    return null;
  }
}
