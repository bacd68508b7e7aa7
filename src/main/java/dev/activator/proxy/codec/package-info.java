/**
 * Strict parsers and encoders for callers' connections. They refuse bytes that two readers could
 * read differently.
 */
@NullMarked
package dev.activator.proxy.codec;

import org.jspecify.annotations.NullMarked;
