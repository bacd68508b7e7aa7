/**
 * Connections to pods, shared by probes and requests.
 *
 * <p><b>Threads.</b> Only the event loop of a connection or pool may call, unless a type says
 * otherwise.
 */
@NullMarked
package dev.activator.upstream;

import org.jspecify.annotations.NullMarked;
