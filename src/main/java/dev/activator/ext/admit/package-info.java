/** Answers to gateways that send requests themselves: whether one may be sent, and to which pod. */
@NullMarked
package dev.activator.ext.admit;

import org.jspecify.annotations.NullMarked;
