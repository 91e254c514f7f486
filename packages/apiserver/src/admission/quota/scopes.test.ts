import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Resource } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { inScopes, isTerminating } from "./scopes.ts";

const resource = (plural: string, group = ""): Resource =>
  ({ plural, group, storage: `${group}/${plural}` }) as unknown as Resource;
const PODS = resource("pods");
const CLAIMS = resource("persistentvolumeclaims");
const SERVICES = resource("services");
const object = (spec: Json, more: Json = {}): KubeObject =>
  ({ metadata: { name: "o", namespace: "ns" }, spec, ...more }) as unknown as KubeObject;
const container = (requests: Json, limits: Json = {}, name = "c"): Json => ({ name, resources: { requests, limits } });

describe("a quota with scopes", () => {
  const scoped = (scopes: readonly string[], matchExpressions: readonly Json[] = []): KubeObject =>
    object({ scopes, scopeSelector: { matchExpressions } });
  const select = (scopeName: string, operator: string, ...values: string[]): KubeObject =>
    scoped([], [{ scopeName, operator, values }]);
  const deadline = { activeDeadlineSeconds: 0 };
  const busy = { containers: [container({ cpu: "1" })] };
  const high = { priorityClassName: "high" };
  const affinity = (kind: string, term: Json, isPreferred = false): Json => ({
    affinity: {
      [kind]: isPreferred
        ? { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: term }] }
        : { requiredDuringSchedulingIgnoredDuringExecution: [term] },
    },
  });
  const CROSS = scoped(["CrossNamespacePodAffinity"]);
  const ALL = object({});
  test.each<[string, KubeObject, Json, boolean]>([
    ["that are none, is about any", ALL, {}, true],
    ["of pods that end, is not about one without a deadline", scoped(["Terminating"]), {}, false],
    ["of pods that end, is about one with a deadline", scoped(["Terminating"]), deadline, true],
    ["of pods that do not end, is about one without a deadline", scoped(["NotTerminating"]), {}, true],
    ["of pods that do not end, is not about one with a deadline", scoped(["NotTerminating"]), deadline, false],
    ["of best effort, is about a pod that asks for nothing", scoped(["BestEffort"]), {}, true],
    ["of best effort, is not about a pod that asks for CPU", scoped(["BestEffort"]), busy, false],
    ["of more than best effort, is about a pod that asks for CPU", scoped(["NotBestEffort"]), busy, true],
    ["of more than best effort, is not about a pod that asks for nothing", scoped(["NotBestEffort"]), {}, false],
    ["is about what is in all of them", scoped(["BestEffort", "Terminating"]), deadline, true],
    ["is not about what is in one of them", scoped(["BestEffort", "Terminating"]), {}, false],
    [
      "with selectors is about what is in both",
      scoped(["BestEffort"], [{ scopeName: "PriorityClass", operator: "Exists" }]),
      {},
      false,
    ],
    ["of any class, is about a pod with one", scoped(["PriorityClass"]), high, true],
    ["of a class, is about a pod with one", select("PriorityClass", "Exists"), high, true],
    ["of a class, is not about a pod without one", select("PriorityClass", "Exists"), {}, false],
    ["of no class, is about a pod without one", select("PriorityClass", "DoesNotExist"), {}, true],
    ["of no class, is not about a pod with one", select("PriorityClass", "DoesNotExist"), high, false],
    ["of these classes, is about one of them", select("PriorityClass", "In", "low", "high"), high, true],
    ["of these classes, is not about another", select("PriorityClass", "In", "low"), high, false],
    ["of these classes, is not about none", select("PriorityClass", "In", ""), {}, false],
    ["of other classes, is about another", select("PriorityClass", "NotIn", "low"), high, true],
    ["of other classes, is about none", select("PriorityClass", "NotIn", "low"), {}, true],
    ["of other classes, is not about one of them", select("PriorityClass", "NotIn", "high"), high, false],
    ["that are unknown, is about none", scoped(["Other"]), {}, false],
    ["of other namespaces, is about affinity to some", CROSS, affinity("podAffinity", { namespaces: ["a"] }), true],
    [
      "of other namespaces, is about affinity to those that are selected",
      CROSS,
      affinity("podAntiAffinity", { namespaceSelector: {} }),
      true,
    ],
    [
      "of other namespaces, is about what is preferred",
      CROSS,
      affinity("podAffinity", { namespaces: ["a"] }, true),
      true,
    ],
    [
      "of other namespaces, is not about affinity to its own",
      CROSS,
      affinity("podAffinity", { namespaces: [], namespaceSelector: null }),
      false,
    ],
    ["of other namespaces, is not about a pod without affinity", CROSS, {}, false],
    ["of volumes, is not about pods", scoped(["VolumeAttributesClass"]), {}, false],
  ])("%s", (_what, quota, spec, expected) => {
    expect(inScopes(quota, PODS, object(spec))).toBe(expected);
  });

  const classOf = (operator: string, ...values: string[]): KubeObject =>
    select("VolumeAttributesClass", operator, ...values);
  test.each<[string, KubeObject, Json, Json, boolean]>([
    ["of a class, is about a claim with one", classOf("In", "gold"), { volumeAttributesClassName: "gold" }, {}, true],
    [
      "of a class, is about a claim that had one",
      classOf("In", "gold"),
      { volumeAttributesClassName: "x" },
      { currentVolumeAttributesClassName: "gold" },
      true,
    ],
    [
      "of a class, is about a claim that is to have one",
      classOf("In", "gold"),
      {},
      { modifyVolumeStatus: { targetVolumeAttributesClassName: "gold" } },
      true,
    ],
    [
      "of a class, is not about a claim with another",
      classOf("In", "gold"),
      { volumeAttributesClassName: "x" },
      {},
      false,
    ],
    ["of no class, is about a claim without one", classOf("DoesNotExist"), { volumeAttributesClassName: "" }, {}, true],
    [
      "of no class, is not about a claim with one",
      classOf("DoesNotExist"),
      { volumeAttributesClassName: "x" },
      {},
      false,
    ],
    ["of pods, is not about claims", scoped(["BestEffort"]), {}, {}, false],
    ["of pods, is not about claims of a class", scoped(["BestEffort"]), { volumeAttributesClassName: "x" }, {}, false],
  ])("of claims %s", (_what, quota, spec, status, expected) => {
    expect(inScopes(quota, CLAIMS, object(spec, { status }))).toBe(expected);
  });

  test("is not about other kinds, where one without scopes is", () => {
    expect(inScopes(scoped(["NotTerminating"]), SERVICES, object({}))).toBe(false);
    expect(inScopes(ALL, SERVICES, object({}))).toBe(true);
  });

  test.each([
    [0, true],
    [5, true],
    [-1, false],
    ["5", false],
    [undefined, false],
  ])("takes a pod with the deadline %j for one that ends: %j", (activeDeadlineSeconds, expected) => {
    expect(isTerminating(object({ activeDeadlineSeconds }))).toBe(expected);
  });
});
