import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { clusterWith } from "../../testing/objects.ts";
import { admitLimits, fillLimits } from "./limits.ts";

async function contextWith(ranges: readonly (readonly Json[])[], subresource = ""): Promise<WriteContext> {
  const stored = ranges.map((limits, i) => ({ metadata: { name: `r${i}`, namespace: "ns" }, spec: { limits } }));
  const elsewhere = {
    metadata: { name: "x", namespace: "other" },
    spec: { limits: [{ type: "Pod", min: { cpu: "9" } }] },
  };
  return {
    cluster: await clusterWith({ "/limitranges": [...stored, elsewhere] }),
    subresource,
  } as unknown as WriteContext;
}

const container = (name: string, requests?: Json, limits?: Json): Json => ({
  name,
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const pod = (containers: readonly Json[], more: Json = {}): KubeObject =>
  ({ kind: "Pod", metadata: { name: "p", namespace: "ns" }, spec: { containers, ...more } }) as unknown as KubeObject;
const claim = (requests: Json): KubeObject =>
  ({
    kind: "PersistentVolumeClaim",
    metadata: { name: "v", namespace: "ns" },
    spec: { resources: { requests } },
  }) as unknown as KubeObject;

describe("a LimitRange gives containers", () => {
  const filled = async (ranges: readonly (readonly Json[])[], given: KubeObject): Promise<Json> => {
    const draft = structuredClone(given) as unknown as Draft;
    fillLimits(draft, await contextWith(ranges));
    return draft as unknown as Json;
  };
  const NOTE = "kubernetes.io/limit-ranger";

  test("what it says they get, and notes it", async () => {
    const range = { type: "Container", defaultRequest: { cpu: "1", memory: "1Gi" }, default: { memory: "2Gi" } };
    const draft = await filled(
      [[range]],
      pod([container("a", { cpu: "2" }), container("b", { cpu: "1", memory: "1" }, { memory: "3" })], {
        initContainers: [{ name: "i" }],
      }),
    );
    expect(draft["spec"]).toEqual({
      containers: [
        container("a", { cpu: "2", memory: "1Gi" }, { memory: "2Gi" }),
        container("b", { cpu: "1", memory: "1" }, { memory: "3" }),
      ],
      initContainers: [container("i", { cpu: "1", memory: "1Gi" }, { memory: "2Gi" })],
    });
    expect(draft["metadata"]).toMatchObject({
      annotations: {
        [NOTE]:
          "LimitRanger plugin set: memory request for container a; memory limit for container a; cpu, memory request for init container i; memory limit for init container i",
      },
    });
  });

  test("nothing where it says nothing, and keeps the annotations", async () => {
    const annotated = pod([container("a")]);
    annotated.metadata.annotations = { mine: "x" };
    const untouched = await filled([[{ type: "Pod", default: { cpu: "1" } }, { type: "Container" }]], annotated);
    expect(untouched["metadata"]).toEqual({ name: "p", namespace: "ns", annotations: { mine: "x" } });
    const touched = await filled([[{ type: "Container", default: { cpu: "1" } }]], annotated);
    expect(touched["metadata"]).toMatchObject({
      annotations: { mine: "x", [NOTE]: "LimitRanger plugin set: cpu limit for container a" },
    });
  });

  test("what the last of its limits says, and of several ranges what the first gives", async () => {
    const range = (cpu: string): Json => ({ type: "Container", default: { cpu } });
    expect((await filled([[range("1"), range("2")], [range("3")]], pod([container("a")])))["spec"]).toEqual({
      containers: [container("a", undefined, { cpu: "2" })],
    });
  });
});

describe("a LimitRange refuses", () => {
  interface Row {
    readonly limits: readonly Json[];
    readonly object: KubeObject;
    readonly old?: KubeObject;
    readonly subresource?: string;
    readonly why: string | undefined;
  }
  const one = (name: string, requests?: Json, limits?: Json): KubeObject => pod([container(name, requests, limits)]);
  const least = (type: string): Json[] => [{ type, min: { cpu: "100m" } }];
  const most = (type: string): Json[] => [{ type, max: { cpu: "2" } }];
  const ratio = (type: string): Json[] => [{ type, maxLimitRequestRatio: { cpu: "1500m" } }];
  const LEAST = "minimum cpu usage per Container is 100m";
  const MOST = "maximum cpu usage per Container is 2";
  const RATIO = "cpu max limit to request ratio per Container is 1500m";
  test.each<[string, Row]>([
    [
      "no container that asks for enough",
      { limits: least("Container"), object: one("a", { cpu: "0.1" }), why: undefined },
    ],
    [
      "a container that asks for nothing",
      { limits: least("Container"), object: one("a"), why: `${LEAST}.  No request is specified` },
    ],
    [
      "a container that asks for too little",
      { limits: least("Container"), object: one("a", { cpu: "99m" }), why: `${LEAST}, but request is 99m` },
    ],
    [
      "a container with too low a limit",
      {
        limits: least("Container"),
        object: one("a", { cpu: "100m" }, { cpu: "50m" }),
        why: `${LEAST}, but limit is 50m`,
      },
    ],
    [
      "no container with the lowest limit",
      { limits: least("Container"), object: one("a", { cpu: "100m" }, { cpu: "100m" }), why: undefined },
    ],
    [
      "no container with the highest limit",
      { limits: most("Container"), object: one("a", { cpu: "2" }, { cpu: "2" }), why: undefined },
    ],
    [
      "a container without a limit",
      { limits: most("Container"), object: one("a", { cpu: "1" }), why: `${MOST}.  No limit is specified` },
    ],
    [
      "a container with too high a limit",
      {
        limits: most("Container"),
        object: one("a", { cpu: "3" }, { cpu: "2001m" }),
        why: `${MOST}, but limit is 2001m`,
      },
    ],
    [
      "a container that asks for too much",
      { limits: most("Container"), object: one("a", { cpu: "3" }, { cpu: "2" }), why: `${MOST}, but request is 3` },
    ],
    [
      "no container within the ratio",
      { limits: ratio("Container"), object: one("a", { cpu: "2" }, { cpu: "3" }), why: undefined },
    ],
    [
      "a container beyond the ratio",
      {
        limits: ratio("Container"),
        object: one("a", { cpu: "1" }, { cpu: "2" }),
        why: `${RATIO}, but provided ratio is 2.000000`,
      },
    ],
    [
      "a ratio to no request",
      {
        limits: ratio("Container"),
        object: one("a", {}, { cpu: "2" }),
        why: `${RATIO}, but no request is specified or request is 0`,
      },
    ],
    [
      "a ratio of no limit",
      {
        limits: ratio("Container"),
        object: one("a", { cpu: "2" }),
        why: `${RATIO}, but no limit is specified or limit is 0`,
      },
    ],
    [
      "several faults, each once",
      {
        limits: [{ type: "Container", min: { cpu: "100m" }, max: { cpu: "2" } }],
        object: pod([container("a"), container("b")]),
        why: `[${LEAST}.  No request is specified, ${MOST}.  No limit is specified]`,
      },
    ],
    [
      "an init container",
      {
        limits: least("Container"),
        object: pod([], { initContainers: [container("i")] }),
        why: `${LEAST}.  No request is specified`,
      },
    ],
    [
      "a pod that asks for too little",
      { limits: least("Pod"), object: one("a"), why: "minimum cpu usage per Pod is 100m.  No request is specified" },
    ],
    [
      "no pod whose containers together ask for enough",
      {
        limits: least("Pod"),
        object: pod([container("a", { cpu: "50m" }), container("b", { cpu: "50m" })]),
        why: undefined,
      },
    ],
    [
      "a pod that asks for too much",
      {
        limits: most("Pod"),
        object: pod([container("a", {}, { cpu: "1" }), container("b", {}, { cpu: "2" })]),
        why: "maximum cpu usage per Pod is 2, but limit is 3",
      },
    ],
    ["no pod for a limit of claims", { limits: least("PersistentVolumeClaim"), object: one("a"), why: undefined }],
    ["no subresource", { limits: least("Container"), object: one("a"), subresource: "status", why: undefined }],
    ["no update of a pod", { limits: least("Container"), object: one("a"), old: one("a"), why: undefined }],
  ])("%s", async (_what, { limits, object, old, subresource, why }) => {
    const expected = why === undefined ? undefined : `pods "p" is forbidden: ${why}`;
    expect(await refusal([limits], object, old, subresource)).toBe(expected);
  });

  const OF_CLAIMS = [{ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } }];
  const STORAGE = "storage usage per PersistentVolumeClaim is";
  test.each<[string, KubeObject, KubeObject | undefined, string | undefined]>([
    ["no claim within the limits", claim({ storage: "1Gi" }), undefined, undefined],
    ["no claim of the most", claim({ storage: "2Gi" }), undefined, undefined],
    ["a claim of too little", claim({ storage: "1" }), undefined, `minimum ${STORAGE} 1Gi, but request is 1`],
    ["a claim of too much", claim({ storage: "3Gi" }), undefined, `maximum ${STORAGE} 2Gi, but request is 3Gi`],
    [
      "a claim that becomes too large",
      claim({ storage: "3Gi" }),
      claim({ storage: "1Gi" }),
      `maximum ${STORAGE} 2Gi, but request is 3Gi`,
    ],
    [
      "a claim of nothing",
      claim({}),
      undefined,
      `[minimum ${STORAGE} 1Gi.  No request is specified, maximum ${STORAGE} 2Gi.  No request is specified]`,
    ],
  ])("%s", async (_what, object, old, why) => {
    const expected = why === undefined ? undefined : `persistentvolumeclaims "v" is forbidden: ${why}`;
    expect(await refusal([OF_CLAIMS], object, old)).toBe(expected);
  });

  test("no claim by the limits of pods", async () => {
    expect(await refusal([[{ type: "Pod", min: { storage: "1Gi" } }]], claim({}))).toBeUndefined();
  });

  test("no object that is being deleted", async () => {
    const old = claim({ storage: "1Gi" });
    old.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(await refusal([OF_CLAIMS], claim({ storage: "3Gi" }), old)).toBeUndefined();
  });

  test("by each range of the namespace", async () => {
    const ranges = [least("Container"), [{ type: "Container", max: { cpu: "2" } }]];
    expect(await refusal(ranges, one("a", { cpu: "1" }, { cpu: "3" }))).toContain("but limit is 3");
  });
});

async function refusal(
  ranges: readonly (readonly Json[])[],
  object: KubeObject,
  old?: KubeObject,
  subresource = "",
): Promise<string | undefined> {
  const context = await contextWith(ranges, subresource);
  try {
    admitLimits(object, old, context);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
