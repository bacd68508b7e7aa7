/** A cluster for two activators, beside which other proxies get the same requests. */
@NullMarked
package dev.activator.bench.beside;

import org.jspecify.annotations.NullMarked;
