/**
 * The port for operators, 9090 in a cluster: metrics, health, endpoints; its address and its
 * certificate. The page that it shows is written elsewhere.
 */
@NullMarked
package dev.activator.management;

import org.jspecify.annotations.NullMarked;
