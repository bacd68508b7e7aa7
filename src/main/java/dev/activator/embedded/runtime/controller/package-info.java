/**
 * What the controllers of a cluster with Knative do: a Service has Revisions, and each of them its
 * Deployment, Services and Endpoints; Endpoints have EndpointSlices. Knows nothing of processes.
 */
@NullMarked
package dev.activator.embedded.runtime.controller;

import org.jspecify.annotations.NullMarked;
