/**
 * Reads responses and writes requests, and has what the side of callers and the side of pods have in
 * common: names and numbers of fields, trailers, and the ends of HTTP/2 connections. How many bytes a
 * head may have, each side says for itself.
 */
@NullMarked
package dev.activator.upstream.codec;

import org.jspecify.annotations.NullMarked;
