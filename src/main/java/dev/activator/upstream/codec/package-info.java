/** The response side's codecs, and what both sides share. */
@NullMarked
package dev.activator.upstream.codec;

import org.jspecify.annotations.NullMarked;
