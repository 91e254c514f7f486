import type { Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { identityFinalizer, plan } from "./plan.ts";

const secretWith = (metadata: Partial<Secret["metadata"]>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cloud", namespace: "default", ...metadata },
});
const finalizers = [identityFinalizer];
const deletionTimestamp = "2026-01-01T00:00:00Z";

test.each([
  ["is held while an object names it", {}, true, ["hold"]],
  ["is held once", { finalizers }, true, []],
  ["that is being deleted is not held any more", { deletionTimestamp }, true, []],
  ["that no object names is left alone", {}, false, []],
  ["is released when no object names it any longer", { finalizers }, false, ["release"]],
  ["with the finalizer of another owner is held", { finalizers: ["other"] }, true, ["hold"]],
  ["with the finalizer of another owner alone is left alone", { finalizers: ["other"] }, false, []],
  ["that is being deleted is released when no object names it", { finalizers, deletionTimestamp }, false, ["release"]],
])("a Secret with credentials %s", (_, metadata, isUsed, expected) => {
  expect(plan({ secret: secretWith(metadata), isUsed }).steps.map(({ type }) => type)).toEqual(expected);
});

test("the finalizer of Secrets is the one that Secrets have already", () => {
  expect(identityFinalizer).toBe("infrastructure.cluster.x-k8s.io/openstack-identity");
});
