package dev.activator.observability.meter;

import java.util.List;

/** All series of one meter at one moment. */
public record Family(Metric metric, List<? extends Point> points) {}
