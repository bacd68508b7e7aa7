/**
 * Requests and responses as bytes, strictly: what two readers could read differently is not read at
 * all. Knows nothing of exchanges.
 */
@NullMarked
package dev.activator.proxy.codec;

import org.jspecify.annotations.NullMarked;
