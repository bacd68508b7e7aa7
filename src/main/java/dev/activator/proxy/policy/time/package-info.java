/**
 * How long a request may take, wait and be waited for.
 * Points in time are given, never read.
 */
@NullMarked
package dev.activator.proxy.policy.time;

import org.jspecify.annotations.NullMarked;
