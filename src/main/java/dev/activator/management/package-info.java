/** The port for operators and scrapers: metrics, health, and what extensions add to it. */
@NullMarked
package dev.activator.management;

import org.jspecify.annotations.NullMarked;
