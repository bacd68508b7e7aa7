/**
 * Reads responses and writes requests, and holds what both sides of the proxy share: names and limits
 * of fields, and the ends of HTTP/2 connections. Each side has its own limit on the bytes of a head.
 */
@NullMarked
package dev.activator.upstream.codec;

import org.jspecify.annotations.NullMarked;
