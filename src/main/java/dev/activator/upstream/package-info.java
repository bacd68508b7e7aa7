/**
 * Connections to pods. Prober and proxy share them, so that a first request finds one open; and what
 * the two ends of an HTTP/2 connection have in common is here as well.
 */
@NullMarked
package dev.activator.upstream;

import org.jspecify.annotations.NullMarked;
