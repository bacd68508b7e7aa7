/**
 * Reads requests strictly: what two readers could read differently is refused. Follows the frames of
 * HTTP/2 and of WebSockets.
 */
@NullMarked
package dev.activator.proxy.codec;

import org.jspecify.annotations.NullMarked;
