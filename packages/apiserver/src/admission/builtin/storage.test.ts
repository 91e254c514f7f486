import { describe, expect, test } from "vitest";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { clusterWith } from "../../testing/objects.ts";
import { defaultIngressClass, defaultStorageClass } from "./classes.ts";
import { protectedBy } from "./protection.ts";

const classOf = (name: string, annotations: Json = {}, creationTimestamp = "2026-01-01T00:00:00Z"): Json => ({
  metadata: { name, annotations, creationTimestamp },
});
const marked = { "storageclass.kubernetes.io/is-default-class": "true" };
const older = { "storageclass.beta.kubernetes.io/is-default-class": "true" };
const ingressMark = { "ingressclass.kubernetes.io/is-default-class": "true" };
const draftOf = (spec: Json, annotations?: Json): Draft =>
  ({ metadata: { name: "x", ...(annotations && { annotations }) }, spec }) as unknown as Draft;

async function contextWith(resource: string, classes: readonly Json[]): Promise<WriteContext> {
  return { cluster: await clusterWith({ [resource]: classes }) } as unknown as WriteContext;
}

describe("DefaultStorageClass", () => {
  const note = { "volume.beta.kubernetes.io/storage-class": "" };
  test.each<[string, readonly Json[], Json, Json | undefined, unknown]>([
    ["gives the class that is marked", [classOf("a"), classOf("b", marked)], {}, undefined, "b"],
    ["reads the older mark", [classOf("a", older)], {}, undefined, "a"],
    ["takes null for no class", [classOf("a", marked)], { storageClassName: null }, undefined, "a"],
    [
      "prefers the newest of several",
      [classOf("a", marked), classOf("b", marked, "2026-02-01T00:00:00Z")],
      {},
      undefined,
      "b",
    ],
    ["prefers the first by name of equally old ones", [classOf("b", marked), classOf("a", marked)], {}, undefined, "a"],
    ["leaves a claim alone that names a class", [classOf("a", marked)], { storageClassName: "x" }, undefined, "x"],
    ["leaves a claim alone that wants none", [classOf("a", marked)], { storageClassName: "" }, undefined, ""],
    ["leaves a claim alone with the older annotation", [classOf("a", marked)], {}, note, undefined],
    [
      "gives nothing where no class is marked",
      [classOf("a", { ...marked, "storageclass.kubernetes.io/is-default-class": "no" })],
      {},
      undefined,
      undefined,
    ],
  ])("%s", async (_what, classes, spec, annotations, expected) => {
    const claim = draftOf(spec, annotations);
    await defaultStorageClass(claim, await contextWith("storage.k8s.io/storageclasses", classes));
    expect((claim["spec"] as Json)["storageClassName"]).toBe(expected);
    expect(Object.values(claim["spec"] as Json)).not.toContain(undefined);
  });
});

describe("DefaultIngressClass", () => {
  test.each<[string, readonly Json[], Json, Json | undefined, unknown]>([
    ["gives the class that is marked", [classOf("a"), classOf("b", ingressMark)], {}, undefined, "b"],
    [
      "leaves an Ingress alone that names a class",
      [classOf("a", ingressMark)],
      { ingressClassName: "x" },
      undefined,
      "x",
    ],
    [
      "leaves an Ingress alone with the older annotation",
      [classOf("a", ingressMark)],
      {},
      { "kubernetes.io/ingress.class": "x" },
      undefined,
    ],
    ["does not read marks of storage classes", [classOf("a", marked)], {}, undefined, undefined],
  ])("%s", async (_what, classes, spec, annotations, expected) => {
    const ingress = draftOf(spec, annotations);
    await defaultIngressClass(ingress, await contextWith("networking.k8s.io/ingressclasses", classes));
    expect((ingress["spec"] as Json)["ingressClassName"]).toBe(expected);
  });
});

describe("StorageObjectInUseProtection", () => {
  test.each([
    ["adds its finalizer to a new volume or claim", undefined, ["p"]],
    ["keeps the finalizers of others", ["x"], ["x", "p"]],
    ["adds none that is there", ["p", "x"], ["p", "x"]],
  ])("%s", async (_what, finalizers, expected) => {
    const draft = { metadata: { name: "x", ...(finalizers && { finalizers }) } } as unknown as Draft;
    await protectedBy("p")(draft, {} as WriteContext);
    expect(draft.metadata.finalizers).toEqual(expected);
  });
});
