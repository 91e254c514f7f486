import { describe, expect, test } from "vitest";
import { messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { clusterWith } from "../../testing/objects.ts";
import { podResources } from "./pod-resources.ts";
import { PODS, refusal } from "./refusal.ts";
import { admitPriority, admitPriorityClass } from "./priority.ts";
import { admitRuntimeClass } from "./runtime-class.ts";
import { admitTolerations } from "./tolerations.ts";

const draft = (spec: Json): Draft =>
  ({ kind: "Pod", metadata: { name: "p", namespace: "ns" }, spec }) as unknown as Draft;

/** The spec that is made of one, or why it is refused. */
function made(spec: Json, admit: (pod: Draft) => void): unknown {
  const pod = draft(structuredClone(spec));
  try {
    admit(pod);
    return pod["spec"];
  } catch (error) {
    return messageOf(error).replace('pods "p" is forbidden: ', "");
  }
}

describe("the priority of a pod", () => {
  const klass = (name: string, more: Json): Json => ({ metadata: { name }, ...more });
  const CLASSES = [
    klass("high", { value: 1000, preemptionPolicy: "Never" }),
    klass("plain", { value: 7 }),
    klass("other", { value: 3, globalDefault: false }),
  ];
  const DEFAULTS = [
    ...CLASSES,
    klass("b", { value: 5, globalDefault: true }),
    klass("a", { value: 9, globalDefault: true }),
  ];
  const lower = (priority: number): Json => ({ priority, preemptionPolicy: "PreemptLowerPriority" });
  test.each<[string, readonly Json[], Json, unknown]>([
    ["is zero without a class", CLASSES, {}, lower(0)],
    ["is that of its class", CLASSES, { priorityClassName: "plain" }, { priorityClassName: "plain", ...lower(7) }],
    [
      "has the preemption policy of its class",
      CLASSES,
      { priorityClassName: "high" },
      { priorityClassName: "high", priority: 1000, preemptionPolicy: "Never" },
    ],
    ["is that of the least default class", DEFAULTS, {}, { priorityClassName: "b", ...lower(5) }],
    ["needs a class that is there", CLASSES, { priorityClassName: "x" }, "no PriorityClass with name x was found"],
    [
      "may be given as it is",
      CLASSES,
      { priorityClassName: "plain", ...lower(7) },
      { priorityClassName: "plain", ...lower(7) },
    ],
    ["may be null", CLASSES, { priority: null }, lower(0)],
    [
      "may not be given otherwise",
      CLASSES,
      { priority: 5 },
      "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name",
    ],
    [
      "may not have another preemption policy",
      CLASSES,
      { priorityClassName: "high", preemptionPolicy: "PreemptLowerPriority" },
      "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name",
    ],
  ])("%s", async (_what, classes, spec, expected) => {
    const cluster = await clusterWith({ "scheduling.k8s.io/priorityclasses": classes });
    expect(made(spec, (pod) => admitPriority(pod, { cluster } as unknown as WriteContext))).toEqual(expected);
  });

  test.each<[string, readonly Json[], Json, boolean, string | undefined]>([
    [
      "another default",
      DEFAULTS,
      { name: "c" },
      false,
      'priorityclasses.scheduling.k8s.io "c" is forbidden: PriorityClass b is already marked as default. Only one default can exist',
    ],
    ["the first default", CLASSES, { name: "c" }, false, undefined],
    ["the default itself when it is updated", DEFAULTS.slice(0, 4), { name: "b" }, true, undefined],
    [
      "a class that becomes another default",
      DEFAULTS,
      { name: "plain" },
      true,
      'priorityclasses.scheduling.k8s.io "plain" is forbidden: PriorityClass b is already marked as default. Only one default can exist',
    ],
  ])("has one default class: %s", async (_what, classes, metadata, isUpdate, expected) => {
    const cluster = await clusterWith({ "scheduling.k8s.io/priorityclasses": classes });
    const object = { metadata, globalDefault: true, value: 1 } as unknown as KubeObject;
    const admit = (one: KubeObject): unknown =>
      admitPriorityClass(one, isUpdate ? one : undefined, { cluster } as unknown as WriteContext);
    let why: string | undefined;
    try {
      admit(object);
    } catch (error) {
      why = messageOf(error);
    }
    expect(why).toBe(expected);
    expect(() => admit({ ...object, globalDefault: false } as unknown as KubeObject)).not.toThrow();
  });
});

test("a pod whose name is still to be made up is refused by what is known of it", () => {
  const refused = (metadata: Json): string => messageOf(refusal(PODS, { metadata } as unknown as KubeObject, "no"));
  expect(refused({ name: "p", generateName: "g-" })).toBe('pods "p" is forbidden: no');
  expect(refused({ generateName: "g-" })).toBe('pods "g-" is forbidden: no');
  expect(refused({})).toBe('pods "Unknown!" is forbidden: no');
});

describe("the tolerations that a pod is given", () => {
  const own = (key: string): Json => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  const [notReady, unreachable] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((k) => own(k));
  test.each<[string, readonly Json[] | undefined, readonly (Json | undefined)[]]>([
    ["are two", undefined, [notReady, unreachable]],
    ["come after its own", [{ key: "a" }], [{ key: "a" }, notReady, unreachable]],
    ["are none where it tolerates everything", [{ operator: "Exists" }], [{ operator: "Exists" }]],
    [
      "leave out what it tolerates",
      [{ key: "node.kubernetes.io/not-ready" }],
      [{ key: "node.kubernetes.io/not-ready" }, unreachable],
    ],
    [
      "leave out what it tolerates with the effect",
      [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }],
      [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }, notReady],
    ],
    ["do not leave out another effect", [{ effect: "NoSchedule" }], [{ effect: "NoSchedule" }, notReady, unreachable]],
  ])("%s", (_what, tolerations, expected) => {
    const spec = tolerations ? { tolerations } : {};
    expect(made(spec, admitTolerations)).toEqual({ tolerations: expected });
  });
});

describe("the request of a pod", () => {
  const container = (cpu: string, more: Json = {}): Json => ({
    resources: { requests: { cpu }, limits: { cpu: "9" } },
    ...more,
  });
  const always = { restartPolicy: "Always" };
  test.each<[string, Json, Json]>([
    ["is the sum of its containers", { containers: [container("1"), container("500m")] }, { cpu: "1500m" }],
    [
      "is no less than that of the largest init container",
      { containers: [container("1")], initContainers: [container("3"), container("2")] },
      { cpu: "3" },
    ],
    [
      "is that of its containers where the largest init container has the same",
      {
        containers: [{ resources: { requests: { memory: "1024" } } }],
        initContainers: [{ resources: { requests: { memory: "1Ki" } } }],
      },
      { memory: "1024" },
    ],
    ["is the sum where that is more", { containers: [container("4")], initContainers: [container("3")] }, { cpu: "4" }],
    ["has sidecars in it", { containers: [container("1")], initContainers: [container("2", always)] }, { cpu: "3" }],
    [
      "counts sidecars together with later init containers",
      { containers: [container("1")], initContainers: [container("2", always), container("5")] },
      { cpu: "7" },
    ],
    [
      "counts no sidecars together with earlier init containers",
      { containers: [container("1")], initContainers: [container("5"), container("2", always)] },
      { cpu: "5" },
    ],
    [
      "may be said for the pod as a whole",
      {
        containers: [container("1")],
        resources: { requests: { cpu: "8", memory: "1Gi", "a/b": "1", "hugepages-2Mi": "2Mi" } },
      },
      { cpu: "8", memory: "1Gi", "hugepages-2Mi": "2Mi" },
    ],
    [
      "has each resource",
      { containers: [container("1"), { resources: { requests: { memory: "1" } } }] },
      { cpu: "1", memory: "1" },
    ],
  ])("%s", (_what, spec, expected) => {
    expect(podResources(spec, "requests")).toEqual(expected);
  });

  test("is not its limit", () => {
    expect(podResources({ containers: [container("1"), container("1")] }, "limits")).toEqual({ cpu: "18" });
  });
});

describe("a runtime class", () => {
  const CLASSES = {
    "node.k8s.io/runtimeclasses": [
      { metadata: { name: "plain" } },
      { metadata: { name: "costly" }, overhead: { podFixed: { cpu: "1" } } },
      {
        metadata: { name: "placed" },
        scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "k", operator: "Exists" }, { key: "z" }] },
      },
      { metadata: { name: "selecting" }, scheduling: { nodeSelector: { a: "b" } } },
      { metadata: { name: "tolerant" }, scheduling: { tolerations: [{ key: "k", operator: "Exists" }] } },
    ],
  };
  const all = [{ key: "k", operator: "Exists" }, { key: "z" }];
  test.each<[string, Json, unknown]>([
    ["that is absent changes nothing", {}, {}],
    ["that is not there is refused", { runtimeClassName: "x" }, 'pod rejected: RuntimeClass "x" not found'],
    ["of no cost changes nothing", { runtimeClassName: "plain" }, { runtimeClassName: "plain" }],
    [
      "of no cost takes no overhead",
      { runtimeClassName: "plain", overhead: {} },
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ],
    [
      "that is absent takes no overhead",
      { overhead: { cpu: "1" } },
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ],
    ["gives its overhead", { runtimeClassName: "costly" }, { runtimeClassName: "costly", overhead: { cpu: "1" } }],
    [
      "takes its own overhead, written in another way",
      { runtimeClassName: "costly", overhead: { cpu: "1000m" } },
      { runtimeClassName: "costly", overhead: { cpu: "1" } },
    ],
    [
      "takes no other overhead",
      { runtimeClassName: "costly", overhead: { cpu: "2" } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      "says where pods run",
      { runtimeClassName: "placed" },
      { runtimeClassName: "placed", nodeSelector: { a: "b" }, tolerations: all },
    ],
    [
      "names both the container and the pod",
      { runtimeClassName: "placed", nodeSelector: { a: "b", c: "d" }, tolerations: [{ key: "y" }] },
      { runtimeClassName: "placed", nodeSelector: { a: "b", c: "d" }, tolerations: [{ key: "y" }, ...all] },
    ],
    [
      "contradicts the pod",
      { runtimeClassName: "placed", nodeSelector: { a: "c" } },
      "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
    ],
    [
      "may have tolerations alone",
      { runtimeClassName: "tolerant", nodeSelector: { x: "y" } },
      { runtimeClassName: "tolerant", nodeSelector: { x: "y" }, tolerations: [{ key: "k", operator: "Exists" }] },
    ],
    [
      "without tolerations puts those of the pod together",
      { runtimeClassName: "selecting", tolerations: [{ key: "y" }, { key: "y" }] },
      { runtimeClassName: "selecting", nodeSelector: { a: "b" }, tolerations: [{ key: "y" }] },
    ],
    [
      "without tolerations adds none",
      { runtimeClassName: "selecting" },
      { runtimeClassName: "selecting", nodeSelector: { a: "b" } },
    ],
    [
      "takes no more tolerations than can be compared",
      { runtimeClassName: "selecting", tolerations: Array.from({ length: 1_001 }, (_, at) => ({ key: `k${at}` })) },
      "pod rejected: 1001 different tolerations, at most 1000 with a RuntimeClass",
    ],
    [
      "takes as many as can be compared",
      { runtimeClassName: "selecting", tolerations: Array.from({ length: 1_000 }, (_, at) => ({ key: `k${at}` })) },
      {
        runtimeClassName: "selecting",
        nodeSelector: { a: "b" },
        tolerations: Array.from({ length: 1_000 }, (_, at) => ({ key: `k${at}` })),
      },
    ],
    [
      "counts equal tolerations once",
      { runtimeClassName: "selecting", tolerations: Array.from({ length: 50_000 }, () => ({ key: "y" })) },
      { runtimeClassName: "selecting", nodeSelector: { a: "b" }, tolerations: [{ key: "y" }] },
    ],
    [
      "may have no tolerations",
      { runtimeClassName: "plain", tolerations: [{ key: "y" }] },
      { runtimeClassName: "plain", tolerations: [{ key: "y" }] },
    ],
  ])("%s", async (_what, spec, expected) => {
    const cluster = await clusterWith(CLASSES);
    expect(made(spec, (pod) => admitRuntimeClass(pod, { cluster } as unknown as WriteContext))).toEqual(expected);
  });

  const K = { key: "k", operator: "Exists" };
  const no = (more: Json): Json => ({ ...K, effect: "NoExecute", ...more });
  test.each<[string, readonly Json[], readonly Json[], readonly Json[]]>([
    ["of equal ones the first", [K, { key: "y" }], [K], [K, { key: "y" }]],
    [
      "not what one of several that follow covers",
      [{ ...K, effect: "NoSchedule" }, K],
      [{ key: "y" }],
      [K, { key: "y" }],
    ],
    [
      "not one for as long as one that covers it",
      [no({ operator: "Equal", value: "v", tolerationSeconds: 5 })],
      [no({ tolerationSeconds: 5 })],
      [no({ tolerationSeconds: 5 })],
    ],
    ["not what another key covers", [{ operator: "Exists" }], [K], [{ operator: "Exists" }]],
    ["not what comes before one that covers it", [{ key: "k", operator: "Equal", value: "v" }], [K], [K]],
    ["both of different keys", [{ key: "a", operator: "Exists" }], [K], [{ key: "a", operator: "Exists" }, K]],
    ["both where no operator covers any key", [{ operator: "Equal" }], [K], [{ operator: "Equal" }, K]],
    ["not one of an effect that any covers", [K], [{ ...K, effect: "NoSchedule" }], [K]],
    [
      "both of different effects",
      [{ ...K, effect: "NoSchedule" }],
      [{ ...K, effect: "NoExecute" }],
      [
        { ...K, effect: "NoSchedule" },
        { ...K, effect: "NoExecute" },
      ],
    ],
    [
      "not a shorter time",
      [no({ tolerationSeconds: 9 })],
      [no({ tolerationSeconds: 8 })],
      [no({ tolerationSeconds: 9 })],
    ],
    [
      "a longer time, not the shorter",
      [no({ tolerationSeconds: 8 })],
      [no({ tolerationSeconds: 9 })],
      [no({ tolerationSeconds: 9 })],
    ],
    ["for ever, not for a time", [no({ tolerationSeconds: 9 })], [no({})], [no({})]],
    [
      "a time of another effect as it is",
      [{ key: "k", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 1 }],
      [{ key: "k", operator: "Equal", value: "v", effect: "NoSchedule", tolerationSeconds: 2 }],
      [{ key: "k", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 1 }],
    ],
    [
      "both of different values",
      [{ key: "k", operator: "Equal", value: "a" }],
      [{ key: "k", operator: "Equal", value: "b" }],
      [
        { key: "k", operator: "Equal", value: "a" },
        { key: "k", operator: "Equal", value: "b" },
      ],
    ],
    [
      "not an equal value of some effect",
      [{ key: "k", operator: "Equal", value: "a" }],
      [{ key: "k", operator: "Equal", value: "a", effect: "NoSchedule" }],
      [{ key: "k", operator: "Equal", value: "a" }],
    ],
    [
      "both of different operators",
      [{ key: "k", operator: "Equal", value: "a" }],
      [{ key: "k", operator: "Other", value: "a" }],
      [
        { key: "k", operator: "Equal", value: "a" },
        { key: "k", operator: "Other", value: "a" },
      ],
    ],
  ])("keeps of tolerations %s", async (_what, own, its, expected) => {
    const scheduling = { tolerations: its };
    const cluster = await clusterWith({ "node.k8s.io/runtimeclasses": [{ metadata: { name: "c" }, scheduling }] });
    const spec = { runtimeClassName: "c", tolerations: own };
    const result = made(spec, (pod) => admitRuntimeClass(pod, { cluster } as unknown as WriteContext));
    expect(result).toEqual({ runtimeClassName: "c", tolerations: expected });
  });
});
