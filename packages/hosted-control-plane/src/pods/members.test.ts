import type { Deployment, StatefulSet } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyspaceOf } from "./keyspace.ts";
import { memberProgress, memberSteps } from "./plan-members.ts";
import { plan } from "./plan.ts";
import { PlayedCluster, now } from "./testing/played-cluster.ts";
import { own, specOf } from "./testing/spec.ts";
import type { NetworkPolicy } from "./types.ts";

const withMembers = (members: number, changes: Parameters<typeof specOf>[0] = {}) =>
  specOf({ pods: own({ datastore: { members } }), ...changes });
const etcdOf = (cluster: PlayedCluster) => cluster.live.get("StatefulSet/etcd") as StatefulSet;
const commandOf = (object: StatefulSet | Deployment | undefined) =>
  object?.spec.template.spec.containers[0]?.command ?? [];
const flag = (object: StatefulSet | Deployment | undefined, name: string) =>
  commandOf(object)
    .find((each) => each.startsWith(`${name}=`))
    ?.slice(name.length + 1);
const serversOf = (cluster: PlayedCluster) =>
  (flag(cluster.live.get("Deployment/kube-apiserver") as Deployment | undefined, "--etcd-servers") ?? "")
    .split(",")
    .filter((each) => each !== "");
const memberStepsIn = (cluster: PlayedCluster) =>
  cluster.performed.filter((each) => /member|leader/.test(each)).map((each) => each.split(" ")[0]);

/** What must hold after each step, whatever is requested and whatever ended in between. */
function check(cluster: PlayedCluster): void {
  const { members, leader } = cluster.membership;
  if (members.length === 0) return;
  const voters = members.filter(({ isLearner }) => !isLearner);
  expect(members.map(({ name }) => name)).toEqual(members.map((_, index) => `etcd-${index}`));
  expect(members.length - voters.length).toBeLessThanOrEqual(1);
  expect(voters.map(({ id }) => id)).toContain(leader);
  // The data is with the first one in any case.
  expect(voters[0]?.name).toBe("etcd-0");
  for (const server of serversOf(cluster)) {
    const name = /(etcd-\d+)\./.exec(server)?.[1];
    expect(voters.map((each) => each.name)).toContain(name);
  }
  const { spec } = etcdOf(cluster);
  // While it runs, every member that votes has its pod.
  if (spec.replicas !== 0) expect(spec.replicas).toBeGreaterThanOrEqual(voters.length);
  // What it gives up with its volume is no member any more.
  const [after, before] = cluster.written.filter(({ kind }) => kind === "StatefulSet").toReversed() as StatefulSet[];
  const isScaled = cluster.performed.at(-1) === "apply StatefulSet/etcd" && after?.spec.replicas !== 0;
  if (isScaled && (after?.spec.replicas ?? 0) < (before?.spec.replicas ?? 0))
    expect(members.length).toBeLessThanOrEqual(after?.spec.replicas ?? 0);
  const { whenScaled } = spec.persistentVolumeClaimRetentionPolicy as { whenScaled: string };
  // Hibernation keeps every volume.
  if (whenScaled === "Delete") expect(spec.replicas).toBeGreaterThanOrEqual(1);
}

/** Plans and performs one step after the other, and lets what was written roll out, until nothing is left to do. */
function complete(cluster: PlayedCluster, spec: ReturnType<typeof specOf>, turns = 60): number {
  for (let turn = 0; turn < turns; turn++) {
    const { steps } = plan(cluster.observe(spec), now);
    for (const step of steps) {
      cluster.perform(step, now);
      check(cluster);
    }
    const before = JSON.stringify([cluster.pods, etcdOf(cluster)?.status]);
    cluster.assignAddress();
    cluster.rollOut();
    if (steps.length === 0 && before === JSON.stringify([cluster.pods, etcdOf(cluster)?.status])) return turn;
  }
  throw new Error("it does not come to an end");
}

function started(members: number): PlayedCluster {
  const cluster = new PlayedCluster();
  complete(cluster, withMembers(members));
  cluster.performed.splice(0);
  return cluster;
}

describe("another number of etcd members", () => {
  test("adds one at a time, which gets all data before its vote, and API servers learn of them in the end", () => {
    const cluster = started(1);
    complete(cluster, withMembers(3));
    expect(memberStepsIn(cluster)).toEqual([
      "add-etcd-member",
      "promote-etcd-member",
      "add-etcd-member",
      "promote-etcd-member",
    ]);
    const etcd = etcdOf(cluster);
    expect([etcd.spec.replicas, flag(etcd, "--initial-cluster")?.split(",").length]).toEqual([3, 3]);
    expect(etcd.metadata.annotations?.["controlplane.causeway.dev/members"]).toBe("3");
    expect(etcd.metadata.annotations).not.toHaveProperty(["controlplane.causeway.dev/registered-members"]);
    expect(serversOf(cluster)).toHaveLength(3);
    expect(plan(cluster.observe(withMembers(3)), now).status.problem).toBeUndefined();
  });

  test("starts a new member with those that it joins, and restarts none of the others meanwhile", () => {
    const cluster = started(1);
    const shapes: unknown[] = [];
    const certificates = cluster.live.get("Secret/etcd")?.metadata.resourceVersion;
    for (let turn = 0; turn < 60; turn++) {
      const { steps } = plan(cluster.observe(withMembers(3)), now);
      for (const step of steps) cluster.perform(step, now);
      const { spec } = etcdOf(cluster);
      const { rollingUpdate } = (spec.updateStrategy ?? {}) as { rollingUpdate?: { partition?: number } };
      const shape = [spec.replicas, flag(etcdOf(cluster), "--initial-cluster-state"), rollingUpdate?.partition ?? 0];
      if (JSON.stringify(shapes.at(-1)) !== JSON.stringify(shape)) shapes.push(shape);
      cluster.rollOut();
    }
    expect(shapes).toEqual([
      [1, "new", 0],
      [2, "existing", 1],
      [3, "existing", 2],
      [3, "new", 0],
    ]);
    expect(cluster.live.get("Secret/etcd")?.metadata.resourceVersion).toBe(certificates);
  });

  test("has API servers give up members, and the first one lead, before members are removed with their volumes", () => {
    const cluster = started(3);
    complete(cluster, withMembers(1));
    expect(memberStepsIn(cluster)).toEqual(["move-etcd-leader", "remove-etcd-member", "remove-etcd-member"]);
    const given = cluster.performed.indexOf("apply Deployment/kube-apiserver");
    expect(given).toBeGreaterThanOrEqual(0);
    expect(given).toBeLessThan(cluster.performed.indexOf("move-etcd-leader"));
    const etcd = etcdOf(cluster);
    expect([etcd.spec.replicas, serversOf(cluster).length]).toEqual([1, 1]);
    expect(etcd.spec.persistentVolumeClaimRetentionPolicy).toMatchObject({ whenScaled: "Retain" });
  });

  test("does not restart the member that remains, whose flags of its first start are written with its next restart", () => {
    const cluster = started(3);
    const before = JSON.stringify(etcdOf(cluster).spec.template);
    complete(cluster, withMembers(1));
    expect(JSON.stringify(etcdOf(cluster).spec.template)).toBe(before);
    expect(etcdOf(cluster).spec.replicas).toBe(1);
    expect(plan(cluster.observe(withMembers(1)), now)).toMatchObject({ steps: [], status: { ready: true } });
    complete(cluster, withMembers(1, { version: "v1.34.0" }));
    expect(flag(etcdOf(cluster), "--initial-cluster")?.split(",")).toHaveLength(1);
  });

  test("that is given up while the second member joins restarts the first one as little", () => {
    const cluster = started(1);
    const before = JSON.stringify(etcdOf(cluster).spec.template);
    const spec = withMembers(3);
    for (let turn = 0; cluster.membership.members.length < 2 || etcdOf(cluster).spec.replicas !== 2; turn++) {
      for (const step of plan(cluster.observe(spec), now).steps) cluster.perform(step, now);
      if (turn > 60) throw new Error("no second member");
    }
    complete(cluster, withMembers(1));
    const { template, updateStrategy } = etcdOf(cluster).spec;
    expect([JSON.stringify(template), updateStrategy]).toEqual([before, undefined]);
  });

  test("waits while a member is not ready, and while the etcd does not answer", () => {
    const cluster = started(3);
    const spec = withMembers(1);
    for (let turns = 0; turns < 60 && !memberStepsIn(cluster).includes("move-etcd-leader"); turns++) {
      for (const step of plan(cluster.observe(spec), now).steps) cluster.perform(step, now);
      cluster.rollOut();
    }
    cluster.pods = cluster.pods.map((pod) =>
      pod.metadata.name === "etcd-1" ? { ...pod, status: { ...pod.status, conditions: [] } } : pod,
    );
    expect(plan(cluster.observe(spec), now).steps).toEqual([]);
    cluster.rollOut();
    const unanswered = { ...cluster.observe(spec), membership: undefined };
    expect([memberSteps(unanswered, true), plan(unanswered, now).steps]).toEqual([[], []]);
    expect(plan(cluster.observe(spec), now).steps.map(({ type }) => type)).toEqual(["remove-etcd-member"]);
  });

  test("touches nothing while a member is none of the StatefulSet's, and says who must act", () => {
    const cluster = started(1);
    const spec = withMembers(3);
    const observed = cluster.observe(spec);
    const members = [...cluster.membership.members, { id: "9", name: undefined, isLearner: false }];
    const { steps, status } = plan({ ...observed, membership: { ...cluster.membership, members } }, now);
    expect(steps).toEqual([]);
    expect(status.problem).toMatchObject({ code: "PODS_MEMBERS_INVALID", actor: "operator" });
  });

  test("asks again by itself whether a member that is none of the StatefulSet's was removed", () => {
    const cluster = started(1);
    const observed = cluster.observe(withMembers(3));
    const members = [...cluster.membership.members, { id: "9", name: undefined, isLearner: false }];
    const { wait } = plan({ ...observed, membership: { ...cluster.membership, members } }, now);
    expect(wait?.until).toBe(now + 30_000);
  });

  test("waits for a control plane that is hibernated to wake, which is hibernated all the same", () => {
    const cluster = started(1);
    cluster.complete(withMembers(1, { replicas: 0 }));
    const { steps, status, wait } = cluster.complete(withMembers(3, { replicas: 0 }));
    expect(steps).toEqual([]);
    expect([status.problem, status.starting]).toEqual([undefined, undefined]);
    expect(wait?.until).toBeGreaterThan(now + 600_000);
    complete(cluster, withMembers(3));
    expect(cluster.membership.members).toHaveLength(3);
  });

  test("is checked each second at first, and once a minute when nothing comes of it", () => {
    const cluster = started(1);
    const observed = { ...cluster.observe(withMembers(3)), membership: undefined };
    const after = (elapsed: number) => {
      const { wait } = plan({ ...observed, membersSince: now }, now + elapsed);
      return (wait?.until ?? Infinity) - now - elapsed;
    };
    expect([0, 1_000, 8_000, 40_000, 3600_000].map(after)).toEqual([1_000, 1_000, 2_000, 10_000, 60_000]);
  });

  test("makes progress by a member more, a vote, and another request, and not by time", () => {
    const cluster = started(1);
    const observed = cluster.observe(withMembers(3));
    const learner = { id: "9", name: "etcd-1", isLearner: true };
    const { members, leader } = cluster.membership;
    const seen = [
      observed,
      { ...observed, membership: undefined },
      { ...observed, membership: { leader, members: [...members, learner] } },
      { ...observed, membership: { leader, members: [...members, { ...learner, isLearner: false }] } },
      cluster.observe(withMembers(1)),
    ].map(memberProgress);
    expect(new Set(seen).size).toBe(seen.length);
    expect(memberProgress(cluster.observe(withMembers(3)))).toBe(seen[0]);
  });

  test("needs connections to etcd that its policy permits the operator, also of one that is not backed up", () => {
    const cluster = started(1);
    const port = keyspaceOf({ ...cluster.observe(withMembers(3)), pool: undefined })?.access.port;
    const { spec } = cluster.live.get("NetworkPolicy/etcd") as NetworkPolicy;
    const peers = spec.ingress?.flatMap(({ from, ports }) => (ports?.some((each) => each.port === port) ? from : []));
    const operator = { matchLabels: { "kubernetes.io/metadata.name": "causeway-system" } };
    expect(peers).toContainEqual({ namespaceSelector: operator });
  });

  test("comes to its end from wherever it was, through hibernation and other requests, and keeps data and quorum", () => {
    const requests = fc.array(
      fc.record({ members: fc.constantFrom(1, 3), replicas: fc.constantFrom(0, 2, 2), turns: fc.nat(12) }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.constantFrom(1, 3), requests, (first, all) => {
        const cluster = started(first);
        for (const { members, replicas, turns } of all) {
          const spec = withMembers(members, { replicas });
          for (let turn = 0; turn < turns; turn++) {
            // The process ends after any step, and the etcd does not answer in every third turn.
            const observed = cluster.observe(spec);
            const [step] = plan(turn % 3 === 1 ? { ...observed, membership: undefined } : observed, now).steps;
            if (step !== undefined) cluster.perform(step, now);
            check(cluster);
            cluster.rollOut();
          }
        }
        const { members } = all.at(-1) ?? { members: first };
        const spec = withMembers(members);
        complete(cluster, spec, 120);
        const etcd = etcdOf(cluster);
        expect([etcd.spec.replicas, serversOf(cluster).length]).toEqual([members, members]);
        expect(etcd.metadata.annotations?.["controlplane.causeway.dev/members"]).toBe(String(members));
        if (cluster.membership.members.length > 0) expect(cluster.membership.members).toHaveLength(members);
        expect(plan(cluster.observe(spec), now).status.problem).toBeUndefined();
      }),
      { numRuns: 8 },
    );
  });
});
