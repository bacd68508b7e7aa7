/** The decisions of the request path as functions of values. */
@NullMarked
package dev.activator.proxy.policy;

import org.jspecify.annotations.NullMarked;
