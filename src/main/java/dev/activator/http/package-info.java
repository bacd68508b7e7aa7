/**
 * The HTTP code that connections to callers and to pods share: lists of fields, HTTP/2 frames and
 * their limits, encoders of heads.
 *
 * <p><b>Threads.</b> Only the event loop of a connection may call, unless a type says otherwise.
 */
@NullMarked
package dev.activator.http;

import org.jspecify.annotations.NullMarked;
