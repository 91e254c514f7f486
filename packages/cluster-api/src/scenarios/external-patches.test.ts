import { afterEach, expect, test, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  ClusterClass,
  conversionsOf,
  ExtensionConfig,
  OpenStackCluster,
  OpenStackMachineTemplate,
  toCustomResourceDefinition,
} from "@causeway/api";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { startExtension, type PlayedExtension, type PlayedHandler } from "../testing/extension-server.ts";
import { key, namespace, World } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000 });

let world: World | undefined;
let extension: PlayedExtension | undefined;
afterEach(async () => {
  await world?.close();
  extension?.close();
  world = extension = undefined;
});

type Fields = Readonly<Record<string, unknown>>;
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Fields | undefined)?.[name], value);
const variable = (list: unknown, name: string): unknown =>
  (list as { name: string; value: unknown }[]).find((one) => one.name === name)?.value;
const encoded = (patch: unknown): string => Buffer.from(JSON.stringify(patch)).toString("base64");

/** Nameservers for the subnet, tags for machines, and a change of metadata, which has no effect. */
function generate(request: Fields): Fields {
  const items = request["items"] as { uid: string; object: Fields; variables: unknown }[];
  const patches = items.flatMap(({ uid, object, variables }) => {
    if (object["kind"] === "OpenStackClusterTemplate") {
      const value = variable(request["variables"], "dnsServers");
      const patch = [{ op: "add", path: "/spec/template/spec/managedSubnets/0/dnsNameservers", value }];
      return [{ uid, patchType: "JSONPatch", patch: encoded(patch) }];
    }
    if (object["kind"] !== "OpenStackMachineTemplate") return [];
    const tags = [
      ...(at(object, "spec", "template", "spec", "tags") as string[]),
      at(request, "settings", "tag"),
      at(variable(variables, "builtin"), "machineDeployment", "class"),
    ];
    const patch = { metadata: { name: "other" }, spec: { template: { spec: { tags } } } };
    return [{ uid, patchType: "JSONMergePatch", patch: encoded(patch) }];
  });
  return { status: "Success", items: patches };
}

const dnsServers = {
  name: "dnsServers",
  required: false,
  schema: { openAPIV3Schema: { type: "array", items: { type: "string", format: "ipv4" }, default: ["9.9.9.9"] } },
};

async function started(validate: PlayedHandler["answer"]): Promise<World> {
  extension = await startExtension({
    "discover-variables": {
      hook: "DiscoverVariables",
      answer: () => ({ status: "Success", variables: [dnsServers] }),
    },
    "generate-patches": { hook: "GeneratePatches", answer: generate },
    "validate-topology": { hook: "ValidateTopology", answer: validate },
  });
  const crds = allKinds.map((kind) => toCustomResourceDefinition(kind));
  const w = (world = await World.start(await startApiServer({ crds, conversions: conversionsOf(allKinds) })));
  w.run();
  const [flavor, cidr] = clusterClass().spec.patches ?? [];
  const external = {
    name: "external",
    external: {
      discoverVariablesExtension: "discover-variables.ext",
      generatePatchesExtension: "generate-patches.ext",
      validateTopologyExtension: "validate-topology.ext",
      settings: { tag: "of-class" },
    },
  };
  const patches = [flavor, external, cidr].flatMap((one) => (one ? [one] : []));
  await w.apply(...classTemplates(), clusterClass("class", { patches }), topologyCluster());
  // The class waits for an extension that no ExtensionConfig describes yet.
  await w.until("a class without its extension", async () => {
    const ready = await conditionOf(w, ClusterClass, "class", "VariablesReady");
    return ready?.reason === "VariableDiscoveryFailed" && ready.message?.includes('"discover-variables.ext"');
  });
  await w.client.create(ExtensionConfig, {
    apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
    kind: "ExtensionConfig",
    metadata: { name: "ext" },
    spec: { clientConfig: extension.clientConfig, settings: { tag: "of-config", more: "x" } },
  });
  return w;
}

const conditionOf = async (w: World, kind: typeof Cluster | typeof ClusterClass, name: string, type: string) =>
  (await w.client.get(kind as typeof Cluster, key(name))).status?.conditions?.find((one) => one.type === type);
const reconciled = (w: World, reason: string, message = "") =>
  w.until(`TopologyReconciled ${reason} ${message}`, async () => {
    const found = await conditionOf(w, Cluster, "demo", "TopologyReconciled");
    return found?.reason === reason && (found.message ?? "").includes(message) ? found : undefined;
  });
const nameservers = async (w: World) =>
  (await w.client.list(OpenStackCluster, { namespace })).items[0]?.spec.managedSubnets?.[0]?.dnsNameservers;

test("an extension defines variables, patches templates and judges the topology", async () => {
  let verdict: Fields = { status: "Success" };
  const w = await started(() => verdict);
  await reconciled(w, "ReconcileSucceeded");

  // Its variable is the class's, and its default the Cluster's.
  const { status } = await w.client.get(ClusterClass, key("class"));
  expect(status?.variables?.map(({ name, definitions }) => [name, definitions.map(({ from }) => from)])).toEqual([
    ["cidr", ["inline"]],
    ["dnsServers", ["external"]],
    ["flavor", ["inline"]],
  ]);
  const { spec } = await w.client.get(Cluster, key("demo"));
  expect(spec.topology?.variables).toContainEqual({ name: "dnsServers", value: ["9.9.9.9"] });

  // What it is shown is upstream's request.
  const request: Fields = extension?.calls.find(({ handler }) => handler === "generate-patches")?.request ?? {};
  expect(request).toMatchObject({
    apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1",
    kind: "GeneratePatchesRequest",
    settings: { tag: "of-class", more: "x" },
  });
  expect(at(variable(request["variables"], "builtin"), "cluster", "topology", "version")).toBe("v1.34.0");
  const cluster = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", namespace, name: "demo" };
  const holders = (request["items"] as { holderReference: Fields }[]).map(({ holderReference }) => holderReference);
  const deployment = { ...cluster, kind: "MachineDeployment", name: holders[2]?.["name"] };
  expect(holders).toEqual([
    { ...cluster, fieldPath: "spec.infrastructureRef" },
    { ...cluster, fieldPath: "spec.controlPlaneRef" },
    { ...deployment, fieldPath: "spec.template.spec.bootstrap.configRef" },
    { ...deployment, fieldPath: "spec.template.spec.infrastructureRef" },
  ]);

  // Its patches are where the class has them: after one inline patch, and before another.
  const [machine] = (await w.client.list(OpenStackMachineTemplate, { namespace })).items.filter(({ metadata }) =>
    metadata.name.startsWith("demo-"),
  );
  expect(machine?.spec.template.spec).toMatchObject({
    flavor: { filter: { name: "m1.small" } },
    tags: ["demo", "md-0", "of-class", "default-worker"],
  });
  expect(await nameservers(w)).toEqual(["9.9.9.9"]);
  const judged = extension?.calls.find(({ handler }) => handler === "validate-topology")?.request;
  expect(at(judged, "items", 0, "object", "spec", "template", "spec", "managedSubnets", 0)).toMatchObject({
    dnsNameservers: ["9.9.9.9"],
  });
  expect(at(judged, "items", 0, "uid")).toBeUndefined();

  // A value that it refuses changes nothing, and the condition says who refuses it.
  verdict = { status: "Failure", message: "8.8.8.8 is not ours" };
  const setServers = (value: readonly string[]) => {
    const variables = (spec.topology?.variables ?? []).map((one) =>
      one.name === "dnsServers" ? { ...one, value } : one,
    );
    return w.client.patch(Cluster, key("demo"), { type: "merge", body: { spec: { topology: { variables } } } });
  };
  await setServers(["8.8.8.8"]);
  const refused = await reconciled(w, "ReconcileFailed", "8.8.8.8 is not ours");
  expect(refused.message).toContain('validation of patch "external" failed');
  expect(refused.message).toContain('"validate-topology.ext"');
  expect(await nameservers(w)).toEqual(["9.9.9.9"]);
  verdict = { status: "Success" };
  await setServers(["1.1.1.1"]);
  await w.until("other nameservers", async () => (await nameservers(w))?.[0] === "1.1.1.1");
  await reconciled(w, "ReconcileSucceeded");

  // One that is gone is named, and what exists remains.
  extension?.close();
  await setServers(["8.8.4.4"]);
  const gone = await reconciled(w, "ReconcileFailed", "generate-patches.ext");
  expect(gone.message).toContain('failed to generate patches for patch "external"');
  expect(await nameservers(w)).toEqual(["1.1.1.1"]);
  await w.client.delete(Cluster, key("demo"));
  await w.until("no Cluster", async () => (await w.client.find(Cluster, key("demo"))) === undefined);
});
