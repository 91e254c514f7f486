import type { Machine, OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type { Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { now, openStackCluster, openStackMachine } from "../testing/objects.ts";
import { gather, interestsOf, type MachineSources } from "./gather.ts";

interface World {
  readonly object: OpenStackMachine;
  readonly provisioned?: boolean;
  /** The data of the bootstrap Secret; undefined where the Machine names none. */
  readonly bootstrap?: Record<string, string>;
}

const KEY = { namespace: "default", name: "demo-workers-abcde" };
const NO_CREDENTIALS = { ok: false, reason: "InvalidIdentity", message: "no clouds.yaml" };

/** Informers with what the world has, and sessions that count how often credentials are requested. */
function sourcesOf({ object, provisioned, bootstrap }: World): { sources: MachineSources; opened: () => number } {
  let opened = 0;
  const infrastructure: OpenStackCluster = {
    ...openStackCluster(),
    status: provisioned === undefined ? {} : { initialization: { provisioned } },
  };
  const machine = { metadata: { name: "owner" }, spec: { bootstrap: bootstrap ? { dataSecretName: "boot" } : {} } };
  const secret = bootstrap && { metadata: { name: "boot" }, data: bootstrap };
  const sources = {
    clusters: { get: () => undefined },
    machines: { get: ({ name }: { name: string }) => (name === "owner" ? (machine as Machine) : undefined) },
    openStackClusters: { get: () => infrastructure, byIndex: () => [infrastructure] },
    openStackMachines: { get: () => object },
    secrets: { get: () => secret as Secret | undefined },
    sessions: {
      get: () => {
        opened += 1;
        return Promise.resolve(NO_CREDENTIALS);
      },
    },
    images: { get: ({ name }: { name: string }) => ({ name }) },
    interests: { set: () => {}, clear: () => {} },
    refusals: { get: () => undefined },
    clock: { now: () => now },
    refreshedAt: new WeakMap(),
    claims: { get: () => undefined },
    addresses: { get: () => undefined },
  };
  return { sources: sources as unknown as MachineSources, opened: () => opened };
}

const owned = {
  ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "owner", uid: "1" }],
};
const machine = (spec: object = {}, metadata: object = {}): OpenStackMachine =>
  openStackMachine(spec, { ...owned, ...metadata });
const READY = { provisioned: true, bootstrap: { value: "x" } } as const;

test.each<[string, World, boolean]>([
  ["with bootstrap data in a cluster that is there", { object: machine(), ...READY }, true],
  ["without a Secret", { object: machine(), provisioned: true }, false],
  ["with an empty Secret", { object: machine(), provisioned: true, bootstrap: {} }, false],
  ["of a cluster without status", { object: machine(), bootstrap: { value: "x" } }, false],
  ["of a cluster that is not there yet", { object: machine(), ...READY, provisioned: false }, false],
  ["that nothing owns", { object: machine({}, { ownerReferences: [] }), ...READY }, false],
  ["that has a server", { object: machine({ providerID: "openstack:///x" }) }, true],
  ["that is being deleted", { object: machine({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) }, true],
])("a machine %s needs its cloud: %s", async (_what, world, needed) => {
  const { sources, opened } = sourcesOf(world);
  const gathered = await gather(sources, KEY, new AbortController().signal);
  expect(opened()).toBe(needed ? 1 : 0);
  const waiting = { ok: false, reason: "Waiting", message: "Not needed yet" };
  expect(gathered?.identity).toEqual(needed ? NO_CREDENTIALS : waiting);
});

test("a machine notices its server, its ports and the floating IP that its claim has", () => {
  const { name } = machine().metadata;
  expect([...interestsOf(machine(), { address: "203.0.113.7" })]).toEqual(
    expect.arrayContaining([name, `${name}-0`, "203.0.113.7"]),
  );
});
