import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { METADATA, type MergeType } from "../schema/merge-type.ts";
import { Tables } from "../wire/tables.ts";
import { BuiltInTypes } from "./built-in-types.ts";
import { MERGE_TABLES } from "./merge-tables.generated.ts";

const TABLES = new Tables();
let types: BuiltInTypes;
beforeEach(() => {
  types = new BuiltInTypes(TABLES);
});

/** A place of a kind, by the names of its fields; "*" is an item or a value. */
function placeIn(apiVersion: string, kind: string, path: string): MergeType | undefined {
  let here: MergeType | undefined = types.ofKind(apiVersion, kind);
  for (const name of path.split(".").filter((n) => n !== "")) {
    here = name === "*" ? (here?.list?.item ?? here?.map?.rest) : here?.map?.field(name);
  }
  return here;
}

/** What a place is, in short. */
function shown(type: MergeType | undefined): string {
  if (type === undefined) return "none";
  const list =
    type.list && `${type.list.relation} list of ${type.list.keys.join(",")} ${JSON.stringify(type.list.keyDefaults)}`;
  const map = type.map && `${type.map.atomic ? "atomic " : ""}map${type.map.rest ? " of anything" : ""}`;
  return [type.scalar, list, map].filter((part) => part !== undefined).join(" or ");
}

describe("the merge type of", () => {
  test.each<[string, string, string, string]>([
    ["v1", "Pod", "", "map"],
    ["v1", "Pod", "apiVersion", "string"],
    ["v1", "Pod", "metadata.finalizers", "set list of  {}"],
    ["v1", "Pod", "other", "none"],
    ["v1", "Pod", "spec.containers", 'map list of name {"name":""}'],
    ["v1", "Pod", "spec.containers.*.ports", 'map list of containerPort,protocol {"containerPort":0,"protocol":"TCP"}'],
    ["v1", "Pod", "spec.containers.*.image", "string"],
    ["v1", "Pod", "spec.tolerations", "atomic list of  {}"],
    ["v1", "Pod", "spec.tolerations.*", "map"],
    ["v1", "Pod", "spec.nodeSelector", "atomic map of anything"],
    ["v1", "Pod", "spec.nodeSelector.*", "string"],
    ["v1", "Pod", "spec.hostNetwork", "boolean"],
    ["v1", "Pod", "spec.activeDeadlineSeconds", "numeric"],
    ["v1", "Pod", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", "atomic map"],
    ["v1", "Pod", "spec.containers.*.env.*.valueFrom.configMapKeyRef", "atomic map"],
    ["v1", "Pod", "spec.containers.*.envFrom.*.configMapRef", "map"],
    ["v1", "Pod", "spec.containers.*.envFrom.*.configMapRef.name", "string"],
    ["v1", "Pod", "spec.containers.*.resources.limits.*", "untyped"],
    ["v1", "ConfigMap", "data.*", "string"],
    ["v1", "ConfigMap", "binaryData.*", "string"],
    ["v1", "Service", "spec.selector", "atomic map of anything"],
    ["v1", "Node", "status.conditions", 'map list of type {"type":""}'],
    ["apps/v1", "Deployment", "spec.replicas", "numeric"],
    ["apps/v1", "Deployment", "spec.selector", "atomic map"],
    ["apps/v1", "Deployment", "spec.template.metadata.labels.*", "string"],
    ["autoscaling/v1", "HorizontalPodAutoscaler", "spec.scaleTargetRef", "atomic map"],
    ["autoscaling/v2", "HorizontalPodAutoscaler", "spec.scaleTargetRef", "map"],
    ["batch/v1", "Job", "status.uncountedTerminatedPods.failed", "set list of  {}"],
    ["certificates.k8s.io/v1", "CertificateSigningRequest", "spec.extra.*", "atomic list of  {}"],
    ["x.io/v1", "Thing", "", "map of anything"],
    ["x.io/v1", "Thing", "kind", "string"],
    ["x.io/v1", "Thing", "metadata.labels.*", "string"],
    ["x.io/v1", "Thing", "status", "map of anything"],
    ["x.io/v1", "Thing", "status.conditions", 'map list of type {"type":""}'],
    ["x.io/v1", "Thing", "status.conditions.*", "untyped or atomic list of  {} or map of anything"],
    ["x.io/v1", "Thing", "*", "untyped or atomic list of  {} or map of anything"],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec.names", "map of anything"],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec.names.plural", "string"],
    [
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      "spec.*",
      "untyped or atomic list of  {} or map of anything",
    ],
    [
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      "spec.versions",
      "untyped or atomic list of  {} or map of anything",
    ],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "status.acceptedNames.plural", "string"],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "status.conditions", 'map list of type {"type":""}'],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "metadata.labels.*", "string"],
  ])("%s %s %s", (apiVersion, kind, path, expected) => {
    expect(shown(placeIn(apiVersion, kind, path))).toBe(expected);
  });

  test("metadata is the same wherever it is", () => {
    for (const path of ["metadata", "spec.template.metadata"]) {
      expect(placeIn("apps/v1", "Deployment", path)).toBe(METADATA);
    }
  });

  test("a kind is made once", () => {
    expect(types.ofKind("v1", "Pod")).toBe(types.ofKind("v1", "Pod"));
    expect(placeIn("v1", "Pod", "spec.containers.*")).toBe(
      placeIn("apps/v1", "Deployment", "spec.template.spec.containers.*"),
    );
  });
});

describe("the marks of", () => {
  test.each<[string, string, object]>([
    ["core.PodSpec", "volumes", { relation: "map", keys: ["name"], mergeKey: "name", retainKeys: true, atomic: false }],
    ["core.NodeSpec", "podCIDRs", { relation: "set", keys: [], mergeKey: "", retainKeys: false, atomic: false }],
    ["apps.DeploymentSpec", "strategy", { relation: "atomic", mergeKey: undefined, retainKeys: true }],
    ["core.NodeSelector", "~", { atomic: true, relation: "atomic" }],
    [
      "core.Container",
      "ports",
      {
        keys: ["containerPort", "protocol"],
        keyDefaults: { containerPort: 0, protocol: "TCP" },
        mergeKey: "containerPort",
      },
    ],
    ["core.EphemeralContainer", "ports", { mergeKey: "containerPort" }],
  ])("%s %s", (struct, field, expected) => {
    expect(types.marks(struct).get(field)).toMatchObject(expected);
    expect(types.marks(struct)).toBe(types.marks(struct));
  });

  test("a struct that has none are none", () => {
    expect([...types.marks("core.ConfigMap"), ...types.marks("constructor")]).toEqual([]);
    expect(types.marks("core.EphemeralContainer").has("~")).toBe(false);
    // The struct that it embeds is atomic where it is a field of its own.
    expect(types.marks("core.LocalObjectReference").has("~")).toBe(true);
    expect(types.marks("core.ConfigMapEnvSource").has("~")).toBe(false);
    expect(types.fields("core.ConfigMap")?.some((f) => f.name === "data")).toBe(true);
  });

  test("all structs are those that were generated", () => {
    const lines = Object.entries(MERGE_TABLES).map(([struct, marks]) => `${struct}: ${marks}`);
    const sum = createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
    // After scripts/merge-tables.ts has written other tables, this is their digest.
    expect([lines.length, sum]).toEqual([74, "89d8ec0474a342ad"]);
  });
});
