import { afterEach, expect, test, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  conversionsOf,
  KubeadmConfig,
  MachinePool,
  toCustomResourceDefinition,
} from "@causeway/api";
import { controllerOf, type KubeObject } from "@causeway/kubernetes";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { poolClass, poolKinds, poolTemplate } from "../testing/pool-manifests.ts";
import { key, namespace, World } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000 });

const kinds = [...allKinds, ...poolKinds];
const [StubMachinePool, StubMachinePoolTemplate] = poolKinds;
let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("a MachinePool of a topology is created, follows variables in place, and goes with what belongs to it", async () => {
  if (!StubMachinePool || !StubMachinePoolTemplate) throw new Error("the kinds of the played provider are missing");
  const crds = kinds.map((kind) => toCustomResourceDefinition(kind));
  const w = (world = await World.start(await startApiServer({ crds, conversions: conversionsOf(kinds) })));
  w.run(kinds);
  const template = poolTemplate();
  await w.client.create(StubMachinePoolTemplate, { ...template, metadata: { ...template.metadata, namespace } });
  const { apiVersion, kind } = template;
  const size = { op: "replace" as const, path: "/spec/template/spec/size", valueFrom: { variable: "size" } };
  const patches = [
    {
      name: "size",
      definitions: [
        {
          selector: { apiVersion, kind, matchResources: { machinePoolClass: { names: ["*"] } } },
          jsonPatches: [size],
        },
      ],
    },
  ];
  const variables = [
    { name: "size", required: false, schema: { openAPIV3Schema: { type: "integer" as const, default: 1 } } },
  ];
  const cluster = topologyCluster();
  const topology = (body: object) =>
    w.client.patch(Cluster, key("demo"), { type: "merge", body: { spec: { topology: body } } });
  const machinePools = [{ class: "default-pool", name: "mp-0", replicas: 2 }];
  await w.apply(
    ...classTemplates(),
    clusterClass("class", { workers: { machinePools: [poolClass()] }, variables, patches }),
    {
      ...cluster,
      spec: { ...cluster.spec, topology: { ...cluster.spec.topology, workers: { machinePools } } },
    } as KubeObject,
  );

  const pools = async () => (await w.client.list(MachinePool, { namespace })).items;
  const hosts = async () =>
    (await w.client.list(StubMachinePool, { namespace })).items as (KubeObject & { spec: object })[];
  const configs = async () => (await w.client.list(KubeadmConfig, { namespace })).items;
  const [pool] = await w.until("a pool that controls its objects", async () => {
    const all = [...(await hosts()), ...(await configs())];
    const found = await pools();
    return all.length === 2 && all.every((one) => controllerOf(one)?.uid === found[0]?.metadata.uid) && found;
  });
  expect(pool?.spec).toMatchObject({ clusterName: "demo", replicas: 2, template: { spec: { version: "v1.34.0" } } });
  const [before] = await hosts();
  expect(before?.spec).toEqual({ size: 1 });

  await topology({ variables: [{ name: "size", value: 3 }] });
  await w.until("the size", async () => (await hosts()).some(({ spec }) => JSON.stringify(spec) === '{"size":3}'));
  expect((await hosts()).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
  expect((await pools()).map(({ metadata }) => metadata.uid)).toEqual([pool?.metadata.uid]);

  await topology({ workers: { machinePools: [{ class: "default-pool", name: "mp-1", replicas: 1 }] } });
  await w.until("the other pool alone", async () => {
    const [found, ...more] = await pools();
    const label = found?.metadata.labels?.["topology.cluster.x-k8s.io/pool-name"];
    const left = [...(await hosts()), ...(await configs())];
    return label === "mp-1" && more.length === 0 && left.length === 2;
  });

  await w.client.delete(Cluster, key("demo"));
  await w.until("no Cluster", async () => (await w.client.find(Cluster, key("demo"))) === undefined);
  await w.until("nothing of it", async () => {
    const left = [...(await pools()), ...(await hosts()), ...(await configs())];
    return left.length === 0;
  });
});
