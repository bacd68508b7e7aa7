/**
 * Reads responses and writes requests, and what both ends of HTTP/2 have in common. Limits of what a
 * message may have are here.
 */
@NullMarked
package dev.activator.upstream.codec;

import org.jspecify.annotations.NullMarked;
