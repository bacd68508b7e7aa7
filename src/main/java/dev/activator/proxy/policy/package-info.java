/**
 * The decisions of the request path, as functions of values: what is malformed, a probe, or for which
 * revision; how headers are rewritten; how long a request may take; what a failure looks like.
 */
@NullMarked
package dev.activator.proxy.policy;

import org.jspecify.annotations.NullMarked;
