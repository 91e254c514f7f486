import { Check } from "typebox/schema";
import { describe, expect, test } from "vitest";
import { addonKinds, allKinds, magnumKinds, operatorKinds, toCustomResourceDefinition } from "../index.ts";
import { defaultsOf, unknownFields, withDefaults } from "./conformity.ts";
import type { JsonSchema } from "./crd.ts";
import { structuralFaults } from "./structural.ts";

const contractKinds = [...allKinds];
const everyKind = [...contractKinds, ...operatorKinds, ...magnumKinds, ...addonKinds];

const schemaOf = (kind: string): JsonSchema => {
  const found = everyKind.find((k) => k.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return toCustomResourceDefinition(found).spec.versions[0]?.schema.openAPIV3Schema ?? {};
};

describe.each(everyKind.map((kind) => [kind.kind, kind] as const))("the CRD of %s", (_, kind) => {
  const crd = toCustomResourceDefinition(kind);
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};

  test("is structural", () => expect(structuralFaults(schema)).toEqual([]));
  test("is named plural.group", () => expect(crd.metadata.name).toBe(`${kind.plural}.${kind.group}`));
  test.runIf(contractKinds.includes(kind))("carries the contract label", () =>
    expect(crd.metadata.labels).toHaveProperty(["cluster.x-k8s.io/v1beta2"]),
  );
  test("is in the category of its contract", () =>
    expect(crd.spec.names.categories).toEqual([contractKinds.includes(kind) ? "cluster-api" : "openstack"]));
  test("has defaults that its own schema accepts", () => {
    for (const { schema: node, value } of defaultsOf(schema)) {
      expect(Check(node, withDefaults(node, value)), JSON.stringify(value)).toBe(true);
    }
  });
  test("describes itself", () => expect(schema["description"]).toMatch(/\.$/));
});

const ref = (apiGroup: string, kind: string, name: string) => ({ apiGroup, kind, name });
const bootstrapRef = ref("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", "demo-md-0");
const infraRef = ref("infrastructure.cluster.x-k8s.io", "OpenStackMachineTemplate", "demo-md-0");

const cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo", namespace: "default" },
  spec: {
    clusterNetwork: {
      pods: { cidrBlocks: ["192.168.0.0/16"] },
      serviceDomain: "cluster.local",
      services: { cidrBlocks: ["10.96.0.0/12"] },
    },
    controlPlaneRef: ref("controlplane.cluster.x-k8s.io", "HostedControlPlane", "demo"),
    infrastructureRef: ref("infrastructure.cluster.x-k8s.io", "OpenStackCluster", "demo"),
  },
};
const deployment = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDeployment",
  metadata: { name: "demo-md-0" },
  spec: {
    clusterName: "demo",
    replicas: 3,
    selector: { matchLabels: {} },
    template: {
      spec: {
        bootstrap: { configRef: bootstrapRef },
        clusterName: "demo",
        failureDomain: "nova",
        infrastructureRef: infraRef,
        version: "v1.34.0",
      },
    },
  },
};
const kubeadmTemplate = {
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmConfigTemplate",
  metadata: { name: "demo-md-0" },
  spec: {
    template: {
      spec: {
        files: [{ path: "/etc/a", owner: "root:root", permissions: "0644", content: "x" }],
        joinConfiguration: {
          nodeRegistration: {
            kubeletExtraArgs: [
              { name: "cloud-provider", value: "external" },
              { name: "provider-id", value: "openstack:///'{{ instance_id }}'" },
            ],
            name: "{{ local_hostname }}",
          },
        },
        preKubeadmCommands: ["swapoff -a"],
      },
    },
  },
};
const hosted = {
  apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
  kind: "HostedControlPlane",
  metadata: { name: "demo" },
  spec: { version: "v1.34.0", endpoint: { host: "127.0.0.1", port: 6443 }, names: ["api.example.org"] },
};

describe("manifests as users write them are accepted", () => {
  test.each([cluster, deployment, kubeadmTemplate, hosted].map((m) => [m.kind, m] as const))("%s", (kind, manifest) => {
    const schema = schemaOf(kind);
    expect(unknownFields(schema, manifest)).toEqual([]);
    expect(Check(schema, withDefaults(schema, manifest))).toBe(true);
  });
});

describe("wrong manifests are refused", () => {
  const at = (object: object, path: string, value: unknown): object => {
    const [head = "", ...rest] = path.split(".");
    const inner = (object as Record<string, unknown>)[head];
    return { ...object, [head]: rest.length === 0 ? value : at((inner ?? {}) as object, rest.join("."), value) };
  };
  test("an unknown field is named", () => {
    expect(unknownFields(schemaOf("Cluster"), at(cluster, "spec.clusterNetwork.pod", {}))).toEqual([
      ".spec.clusterNetwork.pod",
    ]);
  });
  test.each([
    ["a negative number of replicas", "MachineDeployment", at(deployment, "spec.replicas", -1)],
    ["a port above 65535", "HostedControlPlane", at(hosted, "spec.endpoint.port", 70000)],
    ["an empty list of CIDRs", "Cluster", at(cluster, "spec.clusterNetwork.pods.cidrBlocks", [])],
    ["an unknown strategy", "MachineDeployment", at(deployment, "spec.rollout", { strategy: { type: "Recreate" } })],
    ["a control plane without version", "HostedControlPlane", at(hosted, "spec", {})],
  ])("%s", (_, kind, manifest) => {
    const schema = schemaOf(kind);
    expect(Check(schema, withDefaults(schema, manifest))).toBe(false);
  });
});

describe("the defaults of a schema", () => {
  const spec = (
    withDefaults(schemaOf("MachineDeployment"), { ...deployment, spec: { ...deployment.spec } }) as typeof deployment
  ).spec;
  test("make a rollout replace one machine at a time, adding before removing", () => {
    expect(spec).toMatchObject({
      rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    });
  });
  test("give one replica to a kind with replicas", () => {
    const { replicas: _, ...rest } = deployment.spec;
    expect(withDefaults(schemaOf("MachineDeployment"), { ...deployment, spec: rest })).toHaveProperty(
      "spec.replicas",
      1,
    );
  });
});

describe("the descriptions of a schema", () => {
  /** Paths of fields below a schema that `kubectl explain` has no text for. */
  const undescribed = (schema: JsonSchema, path = ""): string[] => {
    const inner = [schema["items"], schema["additionalProperties"]].flatMap((s) =>
      typeof s === "object" && s !== null ? undescribed(s as JsonSchema, path) : [],
    );
    const fields = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).flatMap(
      ([name, field]) => [
        ...(field["description"] === undefined ? [`${path}.${name}`] : []),
        ...undescribed(field, `${path}.${name}`),
      ],
    );
    return [...inner, ...fields];
  };
  test.each(everyKind.map((kind) => [kind.kind, kind] as const))(
    "are there for every field of a %s, but metadata, which the server describes",
    (_, kind) => {
      for (const version of toCustomResourceDefinition(kind).spec.versions) {
        expect(undescribed(version.schema.openAPIV3Schema), version.name).toEqual([".metadata"]);
      }
    },
  );
});
