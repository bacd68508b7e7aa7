package dev.activator.proxy.policy;

public enum Version {
  HTTP_1_0,
  HTTP_1_1,
  HTTP_2,
  OTHER
}
