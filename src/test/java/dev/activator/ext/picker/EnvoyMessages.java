package dev.activator.ext.picker;

import com.google.protobuf.ByteString;
import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.activator.wire.BodySendMode;
import dev.activator.wire.HeaderField;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingRequest.Body;
import dev.activator.wire.ProcessingRequest.Head;
import dev.activator.wire.ProcessingRequest.HeaderMap;
import dev.activator.wire.ProcessingRequest.Metadata;
import dev.activator.wire.ProcessingRequest.ProtocolConfiguration;
import dev.activator.wire.ProcessingRequest.Trailers;
import dev.activator.wire.ProcessingResponse;
import java.util.List;
import java.util.stream.Stream;

/**
 * The messages that Envoy sends to an external processor: {@code Filter::onHeaders}, {@code
 * setupBodyChunk}, {@code sendTrailers}, {@code encodeProtocolConfig} and {@code addDynamicMetadata} of
 * its {@code source/extensions/filters/http/ext_proc/ext_proc.cc}. Values of headers are in
 * {@code raw_value}, as {@code MutationUtils::headersToProto} puts them.
 */
final class EnvoyMessages {
  private EnvoyMessages() {}

  /** The first message of a stream, as with the default modes. */
  static ProcessingRequest.Builder request(String method, String host, String path) {
    return request(method, host, path, BodySendMode.NONE, BodySendMode.NONE);
  }

  static ProcessingRequest.Builder request(String method, String host, String path,
      BodySendMode ofRequest, BodySendMode ofResponse) {
    return ProcessingRequest.newBuilder()
        .setRequestHeaders(Head.newBuilder()
            .setHeaders(headers(":method", method, ":authority", host, ":path", path, ":scheme",
                "http", "x-forwarded-proto", "http", "x-request-id", "1"))
            .setEndOfStream(method.equals("GET")))
        .setMetadataContext(Metadata.getDefaultInstance())
        .setProtocolConfig(ProtocolConfiguration.newBuilder().setRequestBodyMode(ofRequest)
            .setResponseBodyMode(ofResponse));
  }

  static ProcessingRequest get() {
    return request("GET", "web.shop", "/a?b").build();
  }

  /** A request as gateways with an InferencePool send it: both bodies in separate streams. */
  static ProcessingRequest post() {
    return request("POST", "web.shop", "/v1/chat/completions", BodySendMode.FULL_DUPLEX_STREAMED,
        BodySendMode.FULL_DUPLEX_STREAMED).build();
  }

  /** The list of pods that the gateway would send the request to. */
  static ProcessingRequest withSubset(ProcessingRequest.Builder first, String... pods) {
    var list = ListValue.newBuilder();
    Stream.of(pods).forEach(pod -> list.addValues(Value.newBuilder().setStringValue(pod)));
    return first.setMetadataContext(metadata(ProcessingMessages.SUBSET_NAMESPACE,
        ProcessingMessages.SUBSET, Value.newBuilder().setListValue(list).build())).build();
  }

  private static Metadata metadata(String namespace, String key, Value value) {
    return Metadata.newBuilder()
        .putFilterMetadata(namespace, Struct.newBuilder().putFields(key, value).build()).build();
  }

  static ProcessingRequest requestBody(String part, boolean ends) {
    return ProcessingRequest.newBuilder().setRequestBody(body(part, ends)).build();
  }

  static ProcessingRequest requestTrailers() {
    return ProcessingRequest.newBuilder().setRequestTrailers(Trailers.getDefaultInstance())
        .build();
  }

  static ProcessingRequest responseHeaders(int status, boolean ends, String... more) {
    var all = Stream.concat(Stream.of(":status", Integer.toString(status)), Stream.of(more))
        .toArray(String[]::new);
    return ProcessingRequest.newBuilder().setResponseHeaders(
        Head.newBuilder().setHeaders(headers(all)).setEndOfStream(ends)).build();
  }

  /** The head of a response from this pod. */
  static ProcessingRequest servedBy(String pod) {
    return responseHeaders(200, false).toBuilder()
        .setMetadataContext(metadata(ProcessingMessages.NAMESPACE, ProcessingMessages.SERVED,
            Value.newBuilder().setStringValue(pod).build()))
        .build();
  }

  static ProcessingRequest responseBody(String part, boolean ends) {
    return ProcessingRequest.newBuilder().setResponseBody(body(part, ends)).build();
  }

  static ProcessingRequest responseTrailers() {
    return ProcessingRequest.newBuilder().setResponseTrailers(Trailers.getDefaultInstance())
        .build();
  }

  private static Body body(String part, boolean ends) {
    return Body.newBuilder().setBody(ByteString.copyFromUtf8(part)).setEndOfStream(ends).build();
  }

  private static HeaderMap headers(String... namesAndValues) {
    var all = HeaderMap.newBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      all.addHeaders(HeaderField.newBuilder().setKey(namesAndValues[i])
          .setRawValue(ByteString.copyFromUtf8(namesAndValues[i + 1])));
    }
    return all.build();
  }

  /** The pods of an answer: the header and the metadata must have the same. */
  static List<String> pods(ProcessingResponse answer) {
    var headers = answer.getRequestHeaders().getResponse().getHeaderMutation()
        .getSetHeadersList();
    if (headers.size() != 1
        || !headers.getFirst().getHeader().getKey().equals(ProcessingMessages.ENDPOINT)) {
      throw new AssertionError("names no pod: " + answer);
    }
    var header = headers.getFirst().getHeader().getRawValue().toStringUtf8();
    var metadata = answer.getDynamicMetadata().getFieldsOrThrow(ProcessingMessages.NAMESPACE)
        .getStructValue().getFieldsOrThrow(ProcessingMessages.ENDPOINT).getStringValue();
    if (!metadata.equals(header)) {
      throw new AssertionError(metadata + " is not " + header);
    }
    return List.of(header.split(","));
  }

  /** The body that comes back in the modes with separate streams. */
  static String streamed(ProcessingResponse answer) {
    var common = answer.hasRequestBody() ? answer.getRequestBody() : answer.getResponseBody();
    var part = common.getResponse().getBodyMutation().getStreamedResponse();
    return part.getBody().toStringUtf8() + (part.getEndOfStream() ? "|" : "");
  }
}
