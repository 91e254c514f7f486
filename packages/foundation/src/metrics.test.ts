import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.ts";
import { createSmallMetrics } from "./small-metrics.ts";

describe.each([
  ["prom-client", createMetrics],
  ["no library", createSmallMetrics],
])("metrics with %s", (_library, createMetrics) => {
  it("renders what was counted, set and observed", async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: "calls_total", help: "Calls.", labels: ["service"] });
    counter.increment({ service: "network" });
    counter.increment({ service: "network" }, 2);
    const gauge = metrics.gauge({ name: "nodes", help: "Nodes." });
    gauge.set(5);
    gauge.add(-2);
    metrics.histogram({ name: "seconds", help: "Time.", buckets: [1, 10] }).observe(3);
    const text = await metrics.render();
    expect(text).toContain('calls_total{service="network"} 3');
    expect(text).toContain("nodes 3");
    expect(text).toContain('seconds_bucket{le="10"} 1');
    expect(text).toContain('seconds_bucket{le="1"} 0');
    expect(metrics.contentType).toContain("text/plain");
  });
  it("gives the same metric for the same name", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "a_total", help: "A." }).increment();
    metrics.counter({ name: "a_total", help: "A." }).increment();
    expect(await metrics.render()).toContain("a_total 2");
  });
  it("reads a gauge's value when it is rendered, until its source is removed", async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: "age_seconds", help: "Age." });
    let age = 1;
    const end = gauge.onRender(() => gauge.set(age++));
    expect(await metrics.render()).toContain("age_seconds 1");
    expect(await metrics.render()).toContain("age_seconds 2");
    end();
    expect(await metrics.render()).toContain("age_seconds 2");
  });
  it("forgets the values of labels that are gone", async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: "ready", help: "Ready.", labels: ["component"] });
    gauge.set(1, { component: "gone" });
    gauge.clear();
    gauge.set(1, { component: "here" });
    expect(await metrics.render()).toContain('ready{component="here"} 1');
    expect(await metrics.render()).not.toContain("gone");
  });
});

describe("createMetrics", () => {
  it("keeps the metrics of two registries apart", async () => {
    const registry = new Registry();
    createMetrics(registry).gauge({ name: "a", help: "A." }).set(1);
    expect(await registry.metrics()).toContain("a 1");
    expect(await createMetrics().render()).toBe("\n");
  });
});
