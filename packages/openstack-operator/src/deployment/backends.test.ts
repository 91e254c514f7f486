import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { chooseBackends } from "./backends.ts";
import type { Observed } from "./gather.ts";
import { readinessOf } from "./readiness.ts";

type Spec = Observed["deployment"]["spec"];
const spec: Spec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  nodeGroups: [{ name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Network", "Compute"] }],
};
const images = { image: "registry.example.org/pxc", proxyImage: "registry.example.org/haproxy" };
const object = (kind: string, name: string): KubeObject => ({ apiVersion: "v1", kind, metadata: { name } });

interface Situation {
  readonly operators?: Spec["operators"];
  readonly served?: readonly string[];
  readonly objects?: readonly KubeObject[];
  readonly claims?: readonly string[];
  readonly external?: readonly string[];
}

function choice({ operators, served = [], objects = [], claims = [], external = [] }: Situation) {
  const observed: Observed = {
    deployment: {
      apiVersion: "openstack.causeway.dev/v1alpha1",
      kind: "OpenStackDeployment",
      metadata: { name: "cloud", namespace: "openstack" },
      spec: { ...spec, ...(operators ? { operators } : {}) },
      status: { components: external.map((name) => ({ name, kind: "External", state: "Ready" })) },
    },
    objects: new Map(objects.map((each) => [`${each.kind}/${each.metadata.name}`, each])),
    pods: [],
    replicaSets: [],
    credentials: undefined,
    tokenKeys: undefined,
    credentialKeys: undefined,
    restoredKeys: undefined,
    nodes: [],
    claims: new Set(claims),
    served: new Set(served),
    isComplete: true,
  };
  const { operators: chosen, refusal } = chooseBackends(observed, resolveCatalogue(spec).components);
  return refusal ?? chosen;
}

const auto = { percona: { use: "Auto", ...images }, rabbitmq: { use: "Auto" } } as const;
const always = { percona: { use: "Always", ...images } } as const;
const BOTH = ["PerconaXtraDBCluster", "RabbitmqCluster"];

describe("databases and brokers are run by", () => {
  test.each<[string, Situation, unknown]>([
    ["StatefulSets where nothing is requested", { served: BOTH }, {}],
    [
      "operators that are installed, with Auto",
      { operators: auto, served: BOTH },
      { mariadb: "percona", rabbitmq: "rabbitmq" },
    ],
    ["StatefulSets where none is installed, with Auto", { operators: auto }, {}],
    [
      "the one of both that is installed, with Auto",
      { operators: auto, served: BOTH.slice(1) },
      { rabbitmq: "rabbitmq" },
    ],
    [
      "StatefulSets that exist, with Auto, although an operator was installed since",
      {
        operators: auto,
        served: BOTH,
        objects: [object("StatefulSet", "cloud-mariadb"), object("StatefulSet", "cloud-rabbitmq")],
      },
      {},
    ],
    [
      "StatefulSets whose volumes exist, of an earlier deployment of the same name",
      { operators: auto, served: BOTH, claims: ["mariadb"] },
      { rabbitmq: "rabbitmq" },
    ],
  ])("%s", (_what, situation, expected) => {
    expect(choice(situation)).toEqual(expected);
  });

  test.each<[string, Situation, RegExp]>([
    [
      "an operator that is not installed",
      { operators: always },
      /Percona's operator is not installed.*perconaxtradbclusters\.pxc\.percona\.com.*remove the field/,
    ],
    [
      "a change from a StatefulSet",
      { operators: always, served: BOTH, objects: [object("StatefulSet", "cloud-mariadb")] },
      /mariadb runs as a StatefulSet.*set the field back; or make a backup/,
    ],
    [
      "a change from volumes of an earlier deployment",
      { operators: always, served: BOTH, claims: ["mariadb"] },
      /mariadb runs as a StatefulSet/,
    ],
    [
      "a removed field",
      { served: BOTH, objects: [object("PerconaXtraDBCluster", "cloud-mariadb")] },
      /spec\.operators\.percona was removed, and mariadb is a PerconaXtraDBCluster/,
    ],
    [
      "an operator whose CRD is gone: nothing begins again with empty databases",
      { operators: auto, external: ["mariadb"], served: BOTH.slice(1) },
      /not installed.*what runs is not changed/,
    ],
  ])("none, with the reason, for %s", (_what, situation, expected) => {
    expect(choice(situation)).toMatch(expected);
  });
});

describe("the state of a back end is read from", () => {
  const component = { ...resolveCatalogue(spec).components.find(({ name }) => name === "mariadb")! };
  const stateOf = (kind: string, status?: unknown) =>
    readinessOf(component, { apiVersion: "v1", kind, metadata: { name: "x", generation: 2 }, status } as KubeObject);

  test.each<[string, string, unknown, string]>([
    ["no status", "PerconaXtraDBCluster", undefined, "Progressing"],
    ["of an older generation", "PerconaXtraDBCluster", { state: "ready", observedGeneration: 1 }, "Progressing"],
    ["ready", "PerconaXtraDBCluster", { state: "ready", observedGeneration: 2, pxc: { size: 3, ready: 3 } }, "Ready"],
    ["two of three", "PerconaXtraDBCluster", { state: "initializing", pxc: { size: 3, ready: 2 } }, "Degraded"],
    ["one of three", "PerconaXtraDBCluster", { state: "initializing", pxc: { size: 3, ready: 1 } }, "Progressing"],
    ["an error", "PerconaXtraDBCluster", { state: "error", message: ["no image"], pxc: { size: 3 } }, "Failed"],
    ["no conditions", "RabbitmqCluster", {}, "Progressing"],
    ["all replicas", "RabbitmqCluster", { conditions: [{ type: "AllReplicasReady", status: "True" }] }, "Ready"],
    [
      "available",
      "RabbitmqCluster",
      {
        conditions: [
          { type: "AllReplicasReady", status: "False" },
          { type: "ClusterAvailable", status: "True" },
        ],
      },
      "Degraded",
    ],
    [
      "not reconciled",
      "RabbitmqCluster",
      { conditions: [{ type: "ReconcileSuccess", status: "False", reason: "Error", message: "quota" }] },
      "Failed",
    ],
  ])('the report "%s" of a %s', (_what, kind, status, state) => {
    expect(stateOf(kind, status).state).toBe(state);
  });

  test("the operator's own words, where something is wrong", () => {
    expect(stateOf("PerconaXtraDBCluster", { state: "error", message: ["no image"], pxc: { size: 3 } }).step).toContain(
      "no image",
    );
  });
});
