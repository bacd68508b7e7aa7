/**
 * Asks a pod whether it takes requests, in either version of HTTP, over the connections that requests
 * use.
 */
@NullMarked
package dev.activator.upstream.probe;

import org.jspecify.annotations.NullMarked;
