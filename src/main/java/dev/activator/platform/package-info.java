/** What the activator runs on: a cluster with Knative, a cluster without, or a cluster in this process. */
@NullMarked
package dev.activator.platform;

import org.jspecify.annotations.NullMarked;
