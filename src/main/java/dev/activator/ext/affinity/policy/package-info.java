/** The decisions of affinity: where a request's key is, and which pod a key belongs to. */
@NullMarked
package dev.activator.ext.affinity.policy;

import org.jspecify.annotations.NullMarked;
