/** One request and its response: routed, queued, forwarded, ended, each with a timeout. */
@NullMarked
package dev.activator.proxy.exchange;

import org.jspecify.annotations.NullMarked;
