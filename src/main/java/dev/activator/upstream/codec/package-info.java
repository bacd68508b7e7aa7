/** The response side's codecs, and what both sides share: names and limits of fields, HTTP/2 endpoints. */
@NullMarked
package dev.activator.upstream.codec;

import org.jspecify.annotations.NullMarked;
