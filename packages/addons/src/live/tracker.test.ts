import { expect, it } from "vitest";
import { Tracker } from "./tracker.ts";

/** A DaemonSet as kube-apiserver responds to an apply, and what a watch of metadata shows of it. */
const labels = { "addons.causeway.dev/set": "a" };
const shared = { name: "kube-proxy", namespace: "kube-system", uid: "u", resourceVersion: "7", generation: 1, labels };
const annotations = { "deprecated.daemonset.template.generation": "1" };
const whole = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { ...shared, annotations } };
const metadataOnly = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: shared };

it("the tracker of live objects takes a DaemonSet for what was applied, although its metadata alone lacks an annotation of the whole", () => {
  const tracker = new Tracker();
  tracker.applied("ds", "digest", whole);
  expect(tracker.stateOf("ds", "digest", metadataOnly)).toBe("current");
  expect(tracker.stateOf("ds", "other", metadataOnly)).toBe("unapplied");
});

it("the tracker of live objects sees another annotation, another label and another generation as a change", () => {
  const tracker = new Tracker();
  tracker.applied("ds", "digest", whole);
  for (const change of [{ annotations: { a: "b" } }, { labels: {} }, { generation: 2 }])
    expect(tracker.stateOf("ds", "digest", { ...whole, metadata: { ...shared, ...change } })).toBe("changed");
});
