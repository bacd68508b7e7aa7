/** Connections to pods. Probes and requests share them, so a first request finds one open. */
@NullMarked
package dev.activator.upstream;

import org.jspecify.annotations.NullMarked;
