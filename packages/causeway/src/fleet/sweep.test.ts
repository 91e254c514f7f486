import type { Cluster, HostedControlPlane, OpenStackCluster } from "@causeway/api";
import { createLog, VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { gather, type GatherFrom } from "./gather.ts";
import { recordAccount, runSweep, type Sweep, type SweepOf } from "./sweep.ts";

const metadata = { namespace: "default", name: "web" };
const cluster = { kind: "Cluster", metadata } as Cluster;
const controlPlane = { kind: "HostedControlPlane", metadata } as HostedControlPlane;
const infrastructure = { metadata, spec: { identityRef: { name: "credentials", cloudName: "c" } } } as OpenStackCluster;

/** Events in words. */
function recorder() {
  const seen: string[] = [];
  const events: SweepOf["events"] = {
    event: (object, { reason, message }) => seen.push(`${object.kind} ${reason}: ${message}`),
  };
  return { seen, events };
}

test("a sweep that fails is reported once for each cause, in the log and as an event of both objects", async () => {
  const { seen, events } = recorder();
  const lines: string[] = [];
  const log = createLog({ level: "info", destination: { write: (line) => lines.push(line) } });
  const causes = ["Secret gone", "Secret gone", "no route"];
  const client = { find: () => Promise.reject(new Error(causes.shift())) } as unknown as SweepOf["informers"]["client"];
  const clouds = { get: () => expect.fail("there are no credentials") } as SweepOf["clouds"];
  const clock = new VirtualClock();
  const sweep: Sweep = { isRunning: false, since: clock.now(), again: clock.now(), swept: undefined };
  const listings = { read: () => expect.fail("there are no credentials") };
  const of = { informers: { client }, clouds, listings, clock, log, events, cluster, controlPlane, infrastructure };
  const once = () => runSweep(sweep, of, new AbortController().signal);
  await once();
  await once();
  const why = (cause: string) =>
    `SweepFailed: the API of the cluster cannot be reached, and its load balancers cannot be deleted without it yet, which is tried again: ${cause}`;
  const first = [`HostedControlPlane ${why("Secret gone")}`, `Cluster ${why("Secret gone")}`];
  expect([seen, lines.length]).toEqual([first, 1]);
  await once();
  expect(seen.slice(2)).toEqual([`HostedControlPlane ${why("no route")}`, `Cluster ${why("no route")}`]);
  expect(lines).toHaveLength(2);
});

test.each<[string, Sweep["swept"] | "no sweep", string]>([
  [
    "says that nothing was searched without credentials",
    "no sweep",
    "and its load balancers were not searched, since its OpenStackCluster, which has the credentials, is gone: delete in the cloud what is left of them",
  ],
  [
    "says that nothing was found",
    [],
    "so that its load balancers were searched by name in the cloud: nothing of them was found",
  ],
])("the account of a sweep %s", (_what, swept, account) => {
  const { seen, events } = recorder();
  const sweep = swept === "no sweep" ? undefined : { isRunning: false, since: 0, again: 0, swept };
  recordAccount(events, { cluster: undefined, controlPlane, sweep });
  expect(seen).toEqual([`HostedControlPlane SweptWithoutAPI: the API of the cluster could not be reached, ${account}`]);
});

test("nothing of a cluster that is gone is known of another one of its name", async () => {
  const clock = new VirtualClock();
  const sweep: Sweep = { isRunning: false, since: 0, again: 0, swept: [] };
  let present: Cluster | undefined = {
    ...cluster,
    metadata: { ...metadata, deletionTimestamp: "x" },
    spec: {},
  } as Cluster;
  const from = {
    clusters: { get: () => present },
    controlPlanes: { list: () => [] },
    infrastructures: { get: () => undefined },
    remoteClusters: { get: () => undefined },
    members: new Map(),
    unreached: new Map(),
    sweeps: new Map([["default/web", sweep]]),
    clock,
  } as unknown as GatherFrom;
  const observed = () => gather(from, metadata, new AbortController().signal);
  const first = clock.now();
  expect(await observed()).toMatchObject({ unreachedSince: first, sweep: { isDone: true } });
  const again = present;
  present = undefined;
  expect(await observed()).toBeUndefined();
  present = again;
  await clock.advance(1_000);
  expect(await observed()).toMatchObject({ unreachedSince: first + 1_000, sweep: undefined });
});
