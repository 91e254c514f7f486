import { seededIntegers } from "@causeway/foundation/testing";
import { describe, expect, test } from "vitest";
import { plan } from "../plan.ts";
import { now } from "../testing/played-cluster.ts";
import { MovingCluster, type Leader } from "../testing/moving-cluster.ts";
import { advance, moved, reach, shared, started, turn } from "../testing/moves.ts";
import { poolOf, type specOf } from "../testing/spec.ts";
import { FREEZE_LIMIT, RETENTION } from "./plan-migration.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_MIGRATIONS"] ?? 12);
const stagesIn = ({ performed }: MovingCluster) =>
  performed.filter((each) => /datastore|migration|end-pods/.test(each));

describe("a control plane that moves from the shared etcd to its own", () => {
  test("goes through its stages in order, and clients lose nothing on the way", () => {
    const cluster = started();
    reach(cluster, "Retained");
    expect(stagesIn(cluster)).toEqual([
      "begin-migration",
      "record-migration",
      "copy-datastore",
      "record-migration",
      "freeze-datastore",
      "record-migration",
      "end-pods",
      "switch-datastore",
    ]);
    // Members that have the data are not restarted for the switch.
    const frozen = cluster.performed.indexOf("freeze-datastore");
    expect(cluster.performed.lastIndexOf("apply StatefulSet/etcd")).toBeLessThan(frozen);
    cluster.complete(moved());
    expect(cluster.performed.lastIndexOf("apply StatefulSet/etcd")).toBeLessThan(frozen);
    const { status } = turn(cluster, moved(), now);
    expect(status).toMatchObject({ ready: true, migration: { stage: "Retained", hash: "a".repeat(64) } });
    expect(status.problem).toBeUndefined();
    expect(cluster.namespace?.metadata.annotations?.["controlplane.causeway.dev/datastore"]).toBe("Own");
  });

  test("keeps the data in the shared etcd for a day, and deletes it then", () => {
    const cluster = started();
    reach(cluster, "Retained");
    cluster.complete(moved(), now + RETENTION - 1);
    expect(cluster.shared.isRemoved).toBe(false);
    expect(plan(cluster.observe(moved()), now).wait?.until).toBeLessThanOrEqual(now + RETENTION);
    turn(cluster, moved(), now + RETENTION);
    expect([cluster.shared.isRemoved, cluster.record?.stage]).toEqual([true, "Done"]);
    expect(turn(cluster, moved(), now + RETENTION).status.problem).toBeUndefined();
  });

  test("starts members with a revision of their own, and restarts them without it before data comes", () => {
    const cluster = started();
    reach(cluster, "Copying");
    const templates = cluster.written.filter(({ kind }) => kind === "StatefulSet");
    expect(JSON.stringify(templates[0])).toContain('"initContainers"');
    expect(stagesIn(cluster)).not.toContain("copy-datastore");
    reach(cluster, "Freezing");
    expect(JSON.stringify(cluster.live.get("StatefulSet/etcd"))).not.toContain("initContainers");
    expect(JSON.stringify(cluster.live.get("Deployment/kube-apiserver"))).toContain("--etcd-prefix");
  });

  test.each(["Starting", "Copying", "Freezing", "Switching"])(
    "that is withdrawn in stage %s serves from the shared etcd as before",
    (stage) => {
      const cluster = started();
      reach(cluster, stage);
      reach(cluster, "Withdrawn", { spec: shared() });
      for (let turns = 0; turns < 4; turns++) {
        turn(cluster, shared(), now);
        advance(cluster);
      }
      const { status } = turn(cluster, shared(), now);
      expect([status.problem, status.ready, cluster.frozen]).toEqual([undefined, true, false]);
      expect([...cluster.live.keys()].filter((id) => /etcd/.test(id))).toEqual([]);
      expect(cluster.use()).toBeUndefined();
      reach(cluster, "Retained");
      expect(cluster.record?.attempt).toBe(2);
    },
  );

  test.each(["Starting", "Copying", "Freezing", "Switching", "Retained"])(
    "whose process ends in stage %s is finished by another one",
    (stage) => {
      const cluster = started();
      reach(cluster, stage);
      cluster.takeOver();
      if (stage !== "Retained") reach(cluster, "Retained");
      cluster.complete(moved());
      expect(cluster.use()).toBeUndefined();
      expect([cluster.record?.attempt, cluster.record?.stage]).toEqual([1, "Retained"]);
    },
  );

  test("whose sides differ goes back, says why, and is tried again later", () => {
    const cluster = started();
    reach(cluster, "Freezing");
    cluster.fails = true;
    reach(cluster, "Returning");
    expect(cluster.frozen).toBe(false);
    reach(cluster, "Starting");
    const { status, wait } = turn(cluster, moved(), now);
    expect(status.problem).toMatchObject({ code: "PODS_MIGRATION_FAILED", actor: "operator" });
    expect(wait?.until).toBe(now + 600_000);
    cluster.fails = false;
    reach(cluster, "Retained", { at: now + 600_000 });
    expect([cluster.record?.attempt, cluster.record?.failure]).toEqual([2, undefined]);
  });

  test("whose new API servers are not ready within the limit goes back before the limit is over", () => {
    const cluster = started();
    reach(cluster, "Switching");
    const at = now + FREEZE_LIMIT - 2_000;
    expect(plan(cluster.observe(moved()), now).wait?.until).toBeLessThanOrEqual(at);
    expect(cluster.frozen).toBe(true);
    turn(cluster, moved(), at);
    expect([cluster.frozen, cluster.record?.stage]).toEqual([false, "Returning"]);
  });

  test("is not reversed, and not begun without an image that prepares members", () => {
    const cluster = started();
    reach(cluster, "Retained");
    cluster.complete(moved());
    expect(plan(cluster.observe(shared()), now)).toMatchObject({
      steps: [],
      status: { problem: { code: "PODS_DATASTORE_CHANGED", actor: "user" } },
    });
    const other = started();
    const { settings, ...rest } = other.observe(moved());
    const { causewayImage: _image, ...without } = settings;
    expect(plan({ ...rest, settings: without }, now).status.problem).toMatchObject({ code: "PODS_UNSUPPORTED" });
  });

  test("begins only where the operator permits moves; one that is under way continues to its end", () => {
    const cluster = started();
    const permitted = cluster.settings;
    cluster.settings = { ...permitted, datastoreMoves: false };
    const { steps, status } = plan(cluster.observe(moved()), now);
    expect([steps, status.problem?.code]).toEqual([[], "PODS_DATASTORE_CHANGED"]);
    expect(status.problem?.message).toContain("--datastore-moves");
    cluster.settings = permitted;
    reach(cluster, "Switching");
    cluster.settings = { ...permitted, datastoreMoves: false };
    reach(cluster, "Starting", { at: now + FREEZE_LIMIT });
    reach(cluster, "Retained", { at: now + FREEZE_LIMIT + 600_000 });
    cluster.complete(moved(), now + FREEZE_LIMIT + 600_000 + RETENTION);
    expect([cluster.record?.attempt, cluster.record?.stage]).toEqual([2, "Done"]);
  });

  test("is refused where its own etcd would have no room for twice the data", () => {
    const cluster = started();
    const spec = moved();
    const { namespaceName } = cluster.observe(spec);
    const record = { bytes: spec.limits.bytes / 2 + 1, budget: spec.limits.bytes, stage: "Within", at: now } as const;
    cluster.pool = { ...poolOf(), storage: { [namespaceName]: record } };
    const { steps, status } = plan(cluster.observe(spec), now);
    expect([steps, status.problem?.code]).toEqual([[], "PODS_STORAGE_INVALID"]);
  });

  test("that is refused while writes are refused accepts them again", () => {
    const cluster = started();
    reach(cluster, "Switching");
    const spec = { ...moved(), version: "v1.12.0" };
    turn(cluster, spec, now);
    expect([cluster.frozen, cluster.record?.stage]).toEqual([false, "Returning"]);
  });

  test("waits while it is hibernated, and begins when it is woken", () => {
    const cluster = started();
    cluster.complete(shared(0));
    cluster.complete(moved(0));
    expect(cluster.record).toBeUndefined();
    reach(cluster, "Retained");
    cluster.complete(moved());
    expect(cluster.use()).toBeUndefined();
  });

  test("whose record is deleted returns to the etcd that has the data", () => {
    for (const stage of ["Copying", "Switching", "Retained"]) {
      const cluster = started();
      reach(cluster, stage);
      cluster.live.delete("ConfigMap/datastore-migration");
      if (stage === "Retained") cluster.complete(moved());
      else reach(cluster, "Starting");
      expect([stage, cluster.frozen && stage !== "Retained", cluster.use()]).toEqual([stage, false, undefined]);
    }
  });
});

type Random = (below: number) => number;

/** A leader that saw an old state, and remembers what it did then. */
interface Old {
  readonly observed: (spec: ReturnType<typeof specOf>) => Parameters<typeof plan>[0];
  readonly leader: Leader;
}

function snapshot(cluster: MovingCluster): Old {
  const [live, namespace, pods] = [new Map(cluster.live), cluster.namespace, [...cluster.pods]];
  const leader = { ...cluster.leader };
  return {
    leader,
    observed(spec) {
      const copy = new MovingCluster();
      for (const [id, object] of live) copy.live.set(id, object);
      Object.assign(copy, { namespace, pods, migration: leader.migration });
      return copy.observe(spec);
    },
  };
}

/** One schedule of faults; what a client saw that must not be. */
function play(seed: number): { problem: string | undefined; end: ReturnType<typeof plan>; cluster: MovingCluster } {
  const integers = seededIntegers(seed);
  const random: Random = (below) => integers() % below;
  const cluster = started();
  let [spec, old, at] = [moved(), snapshot(cluster), now];
  let problem: string | undefined;
  const check = (): void => void (problem ??= cluster.use());
  const lead = (): void => {
    const dies = random(4) === 0 ? random(4) : -1;
    for (const [index, step] of plan(cluster.observe(spec), at).steps.entries()) {
      if (index === dies) return cluster.takeOver();
      cluster.perform(step, at);
      check();
    }
  };
  // Another leader does the data's steps late: objects are applied by the lease's holder only.
  const leadLate = (): void => {
    for (const step of plan(old.observed(spec), at).steps)
      if (/migration|datastore/.test(step.type)) cluster.perform(step, at, old.leader);
  };
  const others: readonly (() => void)[] = [
    leadLate,
    () => advance(cluster),
    () => advance(cluster),
    () => (at += random(20_000)),
    () => (spec = random(4) > 0 ? spec : random(2) === 0 ? shared() : moved()),
    () => (cluster.fails = random(4) === 0),
  ];
  for (let event = 0; event < 60; event++) {
    if (random(2) === 0) lead();
    else others[random(others.length)]?.();
    if (random(3) === 0) old = snapshot(cluster);
    check();
  }
  cluster.fails = false;
  const hasOwn = cluster.record?.stage === "Retained" || cluster.record?.stage === "Done";
  if (hasOwn) spec = moved();
  for (let turns = 0; turns < 60; turns++) {
    turn(cluster, spec, at);
    advance(cluster);
    check();
    at = Math.max(at, cluster.record?.retryAt ?? 0);
  }
  return { problem, end: turn(cluster, spec, at), cluster };
}

test(`in ${SCHEDULES} schedules of faults no write is lost and no revision goes backwards`, () => {
  const ends = new Map<string, number>();
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const { problem, end, cluster } = play(seed);
    const { ready, problem: left } = end.status;
    const stage = cluster.record?.stage ?? "none";
    const isFrozen = stage !== "Retained" && stage !== "Done" && cluster.frozen;
    expect({ seed, problem, left, ready, isFrozen }).toEqual({
      seed,
      problem: undefined,
      left: undefined,
      ready: true,
      isFrozen: false,
    });
    ends.set(stage, (ends.get(stage) ?? 0) + 1);
  }
  // A schedule that never begins, or never ends, would show nothing.
  expect(ends.get("Retained")).toBeGreaterThan(SCHEDULES / 4);
});
