package dev.activator.kube.decode;

/**
 * A condition of an object's status.
 *
 * @param status {@code True}, {@code False} or {@code Unknown}
 */
public record StatusCondition(String type, String status, String reason, String message,
    String lastTransitionTime, long observedGeneration) {

  public static StatusCondition read(JsonCursor in) {
    var type = "";
    var status = "";
    var reason = "";
    var message = "";
    var lastTransitionTime = "";
    long observedGeneration = 0;
    for (var field : in.fields()) {
      switch (field) {
        case "type" -> type = in.text();
        case "status" -> status = in.text();
        case "reason" -> reason = in.text();
        case "message" -> message = in.text();
        case "lastTransitionTime" -> lastTransitionTime = in.text();
        case "observedGeneration" -> observedGeneration = in.longCount(0);
      }
    }
    return new StatusCondition(type, status, reason, message, lastTransitionTime,
        observedGeneration);
  }

  public boolean isFalse(String wanted) {
    return type.equals(wanted) && status.equals("False");
  }
}
