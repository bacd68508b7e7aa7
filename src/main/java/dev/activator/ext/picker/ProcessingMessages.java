package dev.activator.ext.picker;

import com.google.protobuf.BoolValue;
import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.Destination;
import dev.activator.wire.BodySendMode;
import dev.activator.wire.HeaderField;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingRequest.Body;
import dev.activator.wire.ProcessingRequest.HeaderMap;
import dev.activator.wire.ProcessingRequest.ProtocolConfiguration;
import dev.activator.wire.ProcessingResponse;
import dev.activator.wire.ProcessingResponse.AppendAction;
import dev.activator.wire.ProcessingResponse.BodyMutation;
import dev.activator.wire.ProcessingResponse.Common;
import dev.activator.wire.ProcessingResponse.CommonResponse;
import dev.activator.wire.ProcessingResponse.HeaderMutation;
import dev.activator.wire.ProcessingResponse.HeaderOption;
import dev.activator.wire.ProcessingResponse.HeaderSendMode;
import dev.activator.wire.ProcessingResponse.HttpStatus;
import dev.activator.wire.ProcessingResponse.Immediate;
import dev.activator.wire.ProcessingResponse.ProcessingMode;
import dev.activator.wire.ProcessingResponse.StreamedBody;
import dev.activator.wire.ProcessingResponse.TrailersAnswer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and makes the messages of the endpoint picker protocol.
 *
 * <p><b>Source.</b> The endpoint picker protocol 1.0, and {@code external_processor.proto} of Envoy.
 */
final class ProcessingMessages {
  static final String ENDPOINT = "x-gateway-destination-endpoint";
  static final String SERVED = "x-gateway-destination-endpoint-served";
  static final String SUBSET = "x-gateway-destination-endpoint-subset";
  static final String NAMESPACE = "envoy.lb";
  static final String SUBSET_NAMESPACE = "envoy.lb.subset_hint";

  private ProcessingMessages() {}

  /** The fields of a head in order, with the pseudo-headers. */
  static List<Map.Entry<String, String>> fields(HeaderMap headers) {
    var all = new ArrayList<Map.Entry<String, String>>(headers.getHeadersCount());
    for (var field : headers.getHeadersList()) {
      all.add(Map.entry(field.getKey(), text(field)));
    }
    return all;
  }

  /** The value of a pseudo-header; empty if it is missing. */
  static String pseudo(List<Map.Entry<String, String>> fields, String name) {
    for (var field : fields) {
      if (field.getKey().equals(name)) {
        return field.getValue();
      }
    }
    return "";
  }

  private static String text(HeaderField field) {
    return field.getRawValue().isEmpty()
        ? field.getValue()
        : field.getRawValue().toString(StandardCharsets.ISO_8859_1);
  }

  /** The only pods that may be picked; null if any may. Entries that are no addresses are skipped. */
  static @Nullable Set<Destination> subset(ProcessingRequest message) {
    var value = metadata(message, SUBSET_NAMESPACE, SUBSET);
    if (value == null) {
      return null;
    }
    var texts = value.hasListValue()
        ? value.getListValue().getValuesList().stream().map(Value::getStringValue)
        : Stream.of(value.getStringValue().split(",", -1));
    return texts.map(text -> destination(text.strip())).flatMap(Stream::ofNullable)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** The pod that the gateway has sent the request to; null if it has not said so. */
  static @Nullable Destination served(ProcessingRequest message) {
    var value = metadata(message, NAMESPACE, SERVED);
    return value == null ? null : destination(value.getStringValue());
  }

  private static @Nullable Value metadata(ProcessingRequest message, String namespace,
      String key) {
    var fields = message.getMetadataContext().getFilterMetadataMap().get(namespace);
    return fields == null ? null : fields.getFieldsMap().get(key);
  }

  /** The address and the port in the text, as {@link Destination#toString} has them; null if there is none. */
  static @Nullable Destination destination(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      return null;
    }
    var host = text.substring(0, colon);
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    try {
      return new Destination(bracketed ? host.substring(1, host.length() - 1) : host,
          Integer.parseInt(text.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * The answer to the head of a request.
   *
   * @param pods the chosen one, then its fallbacks
   */
  static ProcessingResponse picked(List<Destination> pods, @Nullable ProtocolConfiguration modes) {
    var value = pods.stream().map(Destination::toString).collect(Collectors.joining(","));
    var answer = ProcessingResponse.newBuilder()
        .setRequestHeaders(Common.newBuilder().setResponse(CommonResponse.newBuilder()
            .setHeaderMutation(mutation(Map.of(ENDPOINT, value))).setClearRouteCache(true)))
        .setDynamicMetadata(struct(Map.of(NAMESPACE,
            Value.newBuilder().setStructValue(
                struct(Map.of(ENDPOINT, Value.newBuilder().setStringValue(value).build())))
                .build())));
    if (modes != null && modes.getResponseBodyMode() == BodySendMode.NONE) {
      // So that the end of the response is seen. A gateway ignores this unless it allows it.
      answer.setModeOverride(ProcessingMode.newBuilder()
          .setResponseHeaderMode(HeaderSendMode.SEND)
          .setRequestBodyMode(modes.getRequestBodyMode())
          // Envoy demands it for a body in a separate stream.
          .setRequestTrailerMode(isInSeparateStreams(modes.getRequestBodyMode())
              ? HeaderSendMode.SEND
              : HeaderSendMode.DEFAULT)
          .setResponseBodyMode(BodySendMode.STREAMED)
          .setResponseTrailerMode(HeaderSendMode.SEND));
    }
    return answer.build();
  }

  private static Struct struct(Map<String, Value> fields) {
    return Struct.newBuilder().putAllFields(fields).build();
  }

  private static HeaderMutation mutation(Map<String, String> headers) {
    var mutation = HeaderMutation.newBuilder();
    headers.forEach((name, value) -> mutation
        .addSetHeaders(option(name, value, AppendAction.OVERWRITE_IF_EXISTS_OR_ADD)));
    return mutation.build();
  }

  private static HeaderOption option(String name, String value, AppendAction action) {
    var option = HeaderOption.newBuilder()
        .setHeader(HeaderField.newBuilder().setKey(name.toLowerCase(Locale.ROOT))
            .setRawValue(ByteString.copyFromUtf8(value)))
        .setAppendAction(action);
    if (action == AppendAction.APPEND_IF_EXISTS_OR_ADD) {
      // A gateway takes this action, which is 0, for one that is missing.
      option.setAppend(BoolValue.of(true));
    }
    return option.build();
  }

  /** The answer to the head of a response. */
  static ProcessingResponse responseHead(List<Map.Entry<String, String>> added) {
    var answer = Common.newBuilder();
    if (!added.isEmpty()) {
      var mutation = HeaderMutation.newBuilder();
      added.forEach(field -> mutation.addSetHeaders(option(field.getKey(), field.getValue(),
          AppendAction.APPEND_IF_EXISTS_OR_ADD)));
      answer.setResponse(CommonResponse.newBuilder().setHeaderMutation(mutation));
    }
    return ProcessingResponse.newBuilder().setResponseHeaders(answer).build();
  }

  /** The response that the caller gets from the gateway itself. */
  static ProcessingResponse immediate(LocalResponse answer) {
    return ProcessingResponse.newBuilder().setImmediateResponse(Immediate.newBuilder()
        .setStatus(HttpStatus.newBuilder().setCode(answer.status()))
        .setHeaders(mutation(new LinkedHashMap<>(answer.headers())))
        .setBody(ByteString.copyFromUtf8(answer.body())).setDetails("activator")).build();
  }

  /** The answer that lets the gateway go on with a part as it is. */
  static ProcessingResponse unchanged(ProcessingRequest message, BodySendMode mode) {
    var answer = ProcessingResponse.newBuilder();
    switch (message.getRequestCase()) {
      case REQUEST_HEADERS -> answer.setRequestHeaders(Common.getDefaultInstance());
      case RESPONSE_HEADERS -> answer.setResponseHeaders(Common.getDefaultInstance());
      case REQUEST_BODY -> answer.setRequestBody(body(message.getRequestBody(), mode));
      case RESPONSE_BODY -> answer.setResponseBody(body(message.getResponseBody(), mode));
      case REQUEST_TRAILERS -> answer.setRequestTrailers(TrailersAnswer.getDefaultInstance());
      case RESPONSE_TRAILERS -> answer.setResponseTrailers(TrailersAnswer.getDefaultInstance());
      case REQUEST_NOT_SET -> throw new IllegalArgumentException("an empty message");
    }
    return answer.build();
  }

  /** In the modes with separate streams, the gateway sends on only what comes back. */
  private static Common body(Body part, BodySendMode mode) {
    if (!isInSeparateStreams(mode)) {
      return Common.getDefaultInstance();
    }
    return Common.newBuilder().setResponse(CommonResponse.newBuilder()
        .setBodyMutation(BodyMutation.newBuilder().setStreamedResponse(StreamedBody.newBuilder()
            .setBody(part.getBody()).setEndOfStream(part.getEndOfStream())
            .setEndOfStreamWithoutMessage(part.getEndOfStreamWithoutMessage())
            .setGrpcMessageCompressed(part.getGrpcMessageCompressed()))))
        .build();
  }

  private static boolean isInSeparateStreams(BodySendMode mode) {
    return mode == BodySendMode.FULL_DUPLEX_STREAMED || mode == BodySendMode.GRPC;
  }
}
