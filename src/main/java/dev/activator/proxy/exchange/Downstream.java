package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.Failure;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;

/**
 * The caller's side of one exchange at a time: a connection, or one stream of it.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> None: where the caller is gone, the exchange is told so, and writes go nowhere.
 */
public interface Downstream {
  /** Passes a 1xx response on, to a caller that understands it. */
  void interim(HttpResponse head);

  /** Begins the response with a pod's, whose headers are made fit for the caller here. */
  void head(HttpResponse head);

  /** Passes a 101 on, after which parts of bodies are bytes of another protocol. */
  void switched(HttpResponse head);

  /** Passes a part of the body on; a {@code LastHttpContent} ends the response. */
  void content(HttpContent content);

  /** Responds with an answer of ours; no response may have begun. */
  void answer(Answer answer);

  /** Responds with what a failure looks like; no response may have begun. */
  void answer(Failure failure);

  /** Breaks a response off so that nobody takes it for a whole one. */
  void abort();

  /** The exchange is over, and the next may begin. */
  void ended();

  void flush();

  /** Whether more may be written without piling up. */
  boolean isWritable();

  void pauseReading();

  void resumeReading();
}
