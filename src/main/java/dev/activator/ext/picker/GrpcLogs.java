package dev.activator.ext.picker;

import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/**
 * gRPC's log of connections, without stack traces for what gateways do: it has one for each stream of a
 * connection that is lost.
 */
final class GrpcLogs {
  private static final org.slf4j.Logger log = LoggerFactory.getLogger(GrpcLogs.class);
  /** Referred to, as a logger without references loses its filter. */
  private static final Logger STREAMS = Logger.getLogger("io.grpc.netty.NettyServerHandler");
  private static final Logger CONNECTIONS = Logger
      .getLogger("io.grpc.netty.NettyServerTransport.connections");

  private GrpcLogs() {}

  static void shorten() {
    STREAMS.setFilter(line -> !"Stream Error".equals(line.getMessage()));
    CONNECTIONS.setFilter(GrpcLogs::isOther);
  }

  private static boolean isOther(LogRecord line) {
    if (!"Transport failed".equals(line.getMessage())) {
      return true;
    }
    var cause = line.getThrown();
    if (cause != null && CONNECTIONS.isLoggable(line.getLevel())) {
      log.info("A connection to the endpoint picker has failed: {}", cause.toString());
    }
    return false;
  }
}
