/**
 * Header fields: which there are, which belong to one connection, and how those of a request and of
 * a response are rewritten on their way.
 */
@NullMarked
package dev.activator.proxy.policy.field;

import org.jspecify.annotations.NullMarked;
