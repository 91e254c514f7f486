import { expect, test } from "vitest";
import type { VolumeAttributesClass } from "@causeway/kubernetes";
import { at } from "../testing/objects.ts";
import { plan } from "./plan.ts";

const finalizers = ["kubernetes.io/vac-protection"];
const attributesClass = (metadata: Partial<VolumeAttributesClass["metadata"]>): VolumeAttributesClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttributesClass",
  metadata: { name: "gold", ...metadata },
  driverName: "csi.example.com",
});

test.each([
  ["protects a class", {}, false, ["protect"]],
  ["leaves a protected class alone", { finalizers }, false, []],
  ["keeps a class that is deleted and used", { finalizers, deletionTimestamp: at(1) }, true, []],
  ["gives up a class that is deleted and not used", { finalizers, deletionTimestamp: at(1) }, false, ["unprotect"]],
  ["does not protect a class that is deleted", { finalizers: ["x"], deletionTimestamp: at(1) }, true, []],
])("the controller of VolumeAttributesClasses %s", (_what, metadata, isUsed, expected) => {
  const { steps } = plan({ attributesClass: attributesClass(metadata), isUsed });
  expect(steps.map(({ type }) => type)).toEqual(expected);
});
