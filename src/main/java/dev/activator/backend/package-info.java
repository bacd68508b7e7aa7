@NullMarked
package dev.activator.backend;

import org.jspecify.annotations.NullMarked;
