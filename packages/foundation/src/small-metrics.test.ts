import fc from "fast-check";
import { expect, test } from "vitest";
import { createMetrics, type Metrics } from "./metrics.ts";
import { createSmallMetrics } from "./small-metrics.ts";

const label = fc.constantFrom("", "a", 'b"', "c\\", "d\ne");
const operation = fc.oneof(
  fc.record({ on: fc.constant("calls_total" as const), label, by: fc.nat(5) }),
  fc.record({ on: fc.constant("nodes" as const), by: fc.double(), isSet: fc.boolean() }),
  fc.record({ on: fc.constant("ready" as const), label, by: fc.integer(), isSet: fc.boolean() }),
  fc.record({ on: fc.constant("cleared" as const), gauge: fc.constantFrom("nodes" as const, "ready" as const) }),
  fc.record({ on: fc.constant("seconds" as const), by: fc.double({ noNaN: true, min: -1, max: 20 }) }),
  fc.record({ on: fc.constant("bytes" as const), by: fc.constantFrom(0, 1, 10, 11), label }),
);

/** The text after these operations. */
async function rendered(
  metrics: Metrics,
  operations: readonly (typeof operation extends fc.Arbitrary<infer T> ? T : never)[],
) {
  const calls = metrics.counter({ name: "calls_total", help: "Calls\nof \\ all.", labels: ["service", "code"] });
  const gauges = {
    nodes: metrics.gauge({ name: "nodes", help: "Nodes." }),
    ready: metrics.gauge({ name: "ready", help: "Ready.", labels: ["of"] }),
  };
  const seconds = metrics.histogram({ name: "seconds", help: "Time." });
  const bytes = metrics.histogram({ name: "bytes", help: "Sizes.", buckets: [1, 10], labels: ["of"] });
  metrics.counter({ name: "none_total", help: "None." });
  for (const each of operations) {
    switch (each.on) {
      case "calls_total":
        calls.increment({ service: each.label, ...(each.by > 3 ? { code: "200" } : {}) }, each.by);
        break;
      case "nodes":
        if (each.isSet) gauges.nodes.set(each.by);
        else gauges.nodes.add(each.by);
        break;
      case "ready":
        if (each.isSet) gauges.ready.set(each.by, { of: each.label });
        else gauges.ready.add(each.by, { of: each.label });
        break;
      case "cleared":
        gauges[each.gauge].clear();
        break;
      case "seconds":
        seconds.observe(each.by);
        break;
      case "bytes":
        bytes.observe(each.by, { of: each.label });
    }
  }
  return metrics.render();
}

test("the text is that of prom-client", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation), async (operations) => {
      expect(await rendered(createSmallMetrics(), operations)).toBe(await rendered(createMetrics(), operations));
    }),
  );
  expect(createSmallMetrics().contentType).toBe(createMetrics().contentType);
});

test("a counter never decreases, and a label that a metric does not have is refused", () => {
  const metrics = createSmallMetrics();
  const counter = metrics.counter({ name: "calls_total", help: "Calls.", labels: ["service"] });
  expect(() => counter.increment({ service: "a" }, -1)).toThrow("decrease");
  expect(() => counter.increment({ of: "a" })).toThrow("no label of");
  expect(() => metrics.gauge({ name: "calls_total", help: "Calls." })).toThrow("already been registered");
});
