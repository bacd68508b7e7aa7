/**
 * Profiles of the running process over HTTP, at the paths where Go's {@code net/http/pprof} has its
 * own. What they contain is the Java runtime's.
 */
@NullMarked
package dev.activator.profiling;

import org.jspecify.annotations.NullMarked;
