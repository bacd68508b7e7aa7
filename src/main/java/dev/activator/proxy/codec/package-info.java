/** Strict parsing: what two readers could read differently is refused. */
@NullMarked
package dev.activator.proxy.codec;

import org.jspecify.annotations.NullMarked;
