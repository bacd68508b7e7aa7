/** Decides whether the other end of a connection still exists. */
@NullMarked
package dev.activator.upstream.policy;

import org.jspecify.annotations.NullMarked;
