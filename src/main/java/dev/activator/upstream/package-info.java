/**
 * Connections to pods. Prober and proxy share them, so that a first request finds one open.
 */
@NullMarked
package dev.activator.upstream;

import org.jspecify.annotations.NullMarked;
