import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { gather, type GatherFrom } from "./gather.ts";
import { plan } from "./plan.ts";
import type { ServiceCluster } from "./service-cluster.ts";
import { datastoreAnnotation, namespaceOf } from "./tenant.ts";
import { PlayedCluster, now } from "./testing/played-cluster.ts";
import { own, specOf } from "./testing/spec.ts";

const signal = new AbortController().signal;
const single = specOf({ pods: own({ datastore: { members: 1 } }) });
const triple = specOf({ pods: own({ datastore: { members: 3 } }) });

/** What is read of a control plane that has one member; `read` answers for its etcd. */
function reading(read: GatherFrom["members"]["read"], spec = triple) {
  const played = new PlayedCluster();
  played.complete(single);
  const { namespaceName, settings } = played.observe(single);
  const clock = new VirtualClock(now);
  const informer = (list: () => unknown[]) => ({ list, get: () => played.namespace });
  const cluster = {
    objects: [informer(() => [...played.live.values()])],
    pods: informer(() => played.pods),
    namespaces: informer(() => [played.namespace]),
  } as unknown as ServiceCluster;
  const from: GatherFrom = {
    cluster,
    settings,
    clock,
    pool: () => undefined,
    requested: () => [spec],
    sharing: () => [],
    members: { read },
    readSecret: () => Promise.resolve(undefined),
  };
  const tenant = { spec, namespaceName, joinedAt: played.joinedAt, hasEtcdUser: false, restored: false };
  return { clock, observed: gather(from, tenant, signal) };
}

test("why an etcd cannot be queried for its members, while these are to change, is in the status", async () => {
  const { observed } = reading(() => Promise.reject(new Error("connect ECONNREFUSED 10.1.0.1:2379")));
  const { status, steps } = plan(await observed, now);
  expect(steps.filter(({ type }) => type.includes("member"))).toEqual([]);
  expect(status.problem).toMatchObject({ code: "PODS_ETCD_UNREACHABLE", actor: "operator" });
  expect(status.problem?.message).toContain("connect ECONNREFUSED 10.1.0.1:2379");
});

test("an etcd that does not answer for a moment is no problem, and one of ten seconds is", async () => {
  const { observed } = reading(() => Promise.reject(new Error("no leader")));
  const codeAfter = async (elapsed: number) =>
    plan({ ...(await observed), membersSince: now }, now + elapsed).status.problem?.code;
  expect(await codeAfter(9_999)).toBe("CONTROL_PLANE_STARTING");
  expect(await codeAfter(10_000)).toBe("PODS_ETCD_UNREACHABLE");
});

test("an etcd that never answers about its members holds back its control plane for three seconds", async () => {
  const { clock, observed } = reading(
    (_, ending) =>
      new Promise((_resolve, reject) => ending.addEventListener("abort", () => reject(new Error("aborted")))),
  );
  await clock.advance(2_999);
  const first = await Promise.race([observed, new Promise<string>((done) => setImmediate(done, "waiting"))]);
  expect(first).toBe("waiting");
  await clock.advance(1);
  expect((await observed).membershipFailure).toBe("no answer within 3 s");
});

test("an etcd is not queried for its members while their number is as requested, and while it is hibernated", async () => {
  for (const spec of [single, { ...triple, replicas: 0 }]) {
    const { observed } = reading(() => Promise.reject(new Error("it was queried")), spec);
    expect(await observed).toMatchObject({ membership: undefined });
    expect((await observed).membershipFailure).toBeUndefined();
  }
});

test("a control plane that moves to its own etcd knows which others of this process are copied", async () => {
  const settings = { owner: "management" };
  const stages: Record<string, string> = { one: "Starting", two: "Copying", three: "Freezing", four: "Switching" };
  const nameOf = (name: string) => namespaceOf(settings.owner, `default.${name}`);
  const namespaces = Object.keys(stages).map((name) => ({
    metadata: { name: nameOf(name), annotations: { [datastoreAnnotation]: "Pooled" } },
  }));
  const records = new Map(
    Object.entries(stages).map(([name, stage]) => {
      const record = JSON.stringify({ stage, attempt: 1, revision: 1, members: 1 });
      return [nameOf(name), { kind: "ConfigMap", metadata: { name: "datastore-migration" }, data: { record } }];
    }),
  );
  const cluster = {
    objects: [{ list: (name: string) => (records.has(name) ? [records.get(name)] : []) }],
    pods: { list: () => [] },
    namespaces: {
      list: () => namespaces,
      get: ({ name }: { name: string }) => namespaces.find(({ metadata }) => metadata.name === name),
      byIndex: () => [],
    },
  } as unknown as ServiceCluster;
  const specs = Object.keys(stages).map((name) => specOf({ id: `default.${name}` }));
  const from: GatherFrom = {
    cluster,
    settings,
    clock: new VirtualClock(now),
    pool: () => undefined,
    requested: () => specs,
    sharing: () => [],
    members: { read: () => Promise.reject(new Error("unused")) },
    readSecret: () => Promise.resolve(undefined),
  };
  const copies = async (name: string) => {
    const spec = specOf({ id: `default.${name}` });
    const tenant = { spec, namespaceName: nameOf(name), joinedAt: undefined, hasEtcdUser: false, restored: false };
    return (await gather(from, tenant, signal)).otherCopies;
  };
  const isOtherCopied = async (name: string, ...copied: string[]) => {
    const spec = specOf({ id: "default.one" });
    const tenant = { spec, namespaceName: nameOf(name), joinedAt: undefined, hasEtcdUser: false, restored: false };
    return (await gather({ ...from, copied: () => copied.map(nameOf) }, tenant, signal)).isOtherCopied;
  };
  expect(await isOtherCopied("one")).toBe(false);
  expect(await isOtherCopied("one", "one")).toBe(false);
  expect(await isOtherCopied("one", "one", "four")).toBe(true);
  expect(await copies("one")).toEqual([nameOf("two"), nameOf("three")]);
  expect(await copies("two")).toEqual([nameOf("three")]);
});
