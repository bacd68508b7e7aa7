/** A server for profiles of this process over HTTP. */
@NullMarked
package dev.activator.ext.profiling;

import org.jspecify.annotations.NullMarked;
