/** The rotation of the authority of a control plane's own etcd, on the planner. */
import { seededIntegers } from "@causeway/foundation/testing";
import { secretText, type Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { AuthorityRotation } from "../runtime.ts";
import { plan } from "./plan.ts";
import { isRolledOut, templateCredentials, workload } from "./rollout.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { specOf } from "./testing/spec.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_PODS"] ?? 4);
const at = (stage: AuthorityRotation["stage"]): AuthorityRotation => ({ id: "2026-01-01T00:00:00Z", stage });

/** The certificates in a Secret, without their line ends. */
const authorities = (cluster: PlayedCluster, name = "etcd-ca"): string[] =>
  (secretText(cluster.live.get(`Secret/${name}`) as Secret | undefined, "ca.crt") ?? "").split("\n").filter(Boolean);

test("the rotation of etcd's authority goes through its stages with the roots, and is reported as under way until every program has it", () => {
  const cluster = new PlayedCluster();
  const spec = specOf();
  cluster.complete(spec);
  const [old = ""] = authorities(cluster);
  const restarts: string[][] = [];
  for (const stage of ["trust", "sign", "retire"] as const) {
    const wanted = { ...spec, rotationStage: at(stage) };
    expect(plan(cluster.observe(wanted), now).status).toMatchObject({ starting: true });
    cluster.performed.splice(0);
    const { status } = cluster.complete(wanted);
    expect(status.starting).toBeUndefined();
    expect(status.problem).toBeUndefined();
    expect(cluster.performed.slice(0, 4)).toEqual([
      "rotate-etcd-authority",
      "follow Secret/etcd-ca",
      "issue Secret/etcd",
      "issue Secret/kube-apiserver",
    ]);
    restarts.push(cluster.performed.filter((each) => /StatefulSet|Deployment\/kube-apiserver/.test(each)));
    expect(authorities(cluster)).toEqual(authorities(cluster, "etcd-ca-copy"));
    expect(authorities(cluster)).toHaveLength(stage === "retire" ? 1 : 2);
  }
  expect(authorities(cluster)).not.toContain(old);
  for (const each of restarts) expect(each).toEqual(["apply StatefulSet/etcd", "apply Deployment/kube-apiserver"]);
  cluster.performed.splice(0);
  cluster.complete({ ...spec, rotationStage: at("single") });
  expect(cluster.performed).toEqual([]);
});

test("a Secret whose content another user changed in the middle is reported, and not followed", () => {
  const cluster = new PlayedCluster();
  const wanted = specOf({ rotationStage: at("trust") });
  cluster.complete(specOf());
  cluster.complete(wanted);
  const secret = cluster.live.get("Secret/etcd-ca") as Secret;
  cluster.live.set("Secret/etcd-ca", { ...secret, data: { ...secret.data, "ca.key": "AAAA" } } as Secret);
  expect(plan(cluster.observe(wanted), now)).toMatchObject({
    steps: [],
    status: { problem: { code: "PODS_KEY_DIFFERS" } },
  });
});

test(`in ${SCHEDULES} schedules of faults etcd and its clients trust each other through a rotation`, () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const integers = seededIntegers(seed);
    const random = (below: number): number => integers() % below;
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    /** What each template of a program trusts and is signed by: first the one that signs. */
    const known = new Map<string, string[]>();
    const learn = (): void => {
      for (const id of ["StatefulSet/etcd", "Deployment/kube-apiserver"]) {
        const digest = `${id} ${templateCredentials(workload(cluster.live.get(id)))}`;
        if (!known.has(digest)) known.set(digest, [...authorities(cluster)]);
      }
    };
    learn();
    const running = (component: string, id: string) =>
      cluster.pods
        .filter(({ metadata }) => metadata.name.startsWith(`${component}-`))
        .map(({ metadata }) =>
          known.get(`${id} ${metadata.annotations?.["controlplane.causeway.dev/credentials"] ?? ""}`),
        );
    const stages = ["trust", "sign", "retire"] as const;
    let stage = 0;
    for (let event = 0; event < 800 && stage < stages.length; event++) {
      const spec = specOf({ rotationStage: at(stages[stage] ?? "retire") });
      const kind = random(8);
      if (kind <= 1) cluster.rollOut();
      else if (kind === 2) cluster.rollOut("etcd");
      else if (kind === 3 && random(4) === 0)
        cluster.live.delete(["Secret/etcd-ca", "Secret/etcd-ca-copy", "Secret/etcd"][random(3)] ?? "");
      else {
        const { steps, status } = plan(cluster.observe(spec), now);
        const dies = random(3) === 0 ? random(4) : Infinity;
        for (const [index, step] of steps.entries()) {
          if (index >= dies) break;
          cluster.perform(step, now);
          learn();
        }
        if (steps.length === 0 && status.starting !== true && status.problem === undefined) stage++;
      }
      for (const etcd of running("etcd", "StatefulSet/etcd"))
        for (const api of running("kube-apiserver", "Deployment/kube-apiserver")) {
          expect(etcd, `seed ${seed}`).toContain(api?.[0]);
          expect(api, `seed ${seed}`).toContain(etcd?.[0]);
        }
    }
    expect(stage, `seed ${seed} does not end`).toBe(3);
    expect(isRolledOut(workload(cluster.live.get("StatefulSet/etcd")))).toBe(true);
  }
});
