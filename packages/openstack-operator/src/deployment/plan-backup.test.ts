import type { OpenStackDeployment, OpenStackDeploymentSpec } from "@causeway/api";
import type { Job, KubeObject, Pod } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { annotations, labels } from "../model/names.ts";
import { completed } from "../credentials/new-values.ts";
import { resolveCatalogue } from "../catalogue/index.ts";
import { desiredOf, lastingComponents } from "../render/desired.ts";
import type { Observed } from "./gather.ts";
import { dueAt, jobOfRun, planBackup, runOf } from "./plan-backup.ts";

const spec: OpenStackDeploymentSpec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  size: "Tiny",
  nodeGroups: [{ name: "all", nodeSelector: {}, roles: ["Control", "Compute", "Network"] }],
  backup: { target: { claim: "backups" }, keys: { name: "passphrase" }, keep: 3 },
};
const deployment = (more: Partial<OpenStackDeployment> = {}): OpenStackDeployment => ({
  apiVersion: "openstack.causeway.dev/v1alpha1",
  kind: "OpenStackDeployment",
  metadata: { name: "cloud", namespace: "openstack", uid: "u" },
  spec,
  ...more,
});
const catalogue = resolveCatalogue(spec);
const credentials = completed({ generation: 0, accounts: [0], values: {} }, catalogue.components);
const desired = desiredOf({ deployment: deployment(), credentials, computeNodes: [], messagesOf: "2025.1" });
const names = desired.templates.map(({ metadata }) => metadata.labels?.[labels.component] ?? "");
const NOW = Date.UTC(2026, 0, 5, 9, 30);
const RUN = "20260105t020000z";

const job = (name: string, run = RUN, type?: "Complete" | "Failed"): Job => {
  const template = desired.templates[names.indexOf(name)];
  if (!template) throw new Error(name);
  const conditions = type === undefined ? [] : [{ type, status: "True", message: "the pod failed" }];
  return { ...jobOfRun(template, run), status: { conditions } } as Job;
};
const pod = (component: string, bytes: unknown, run = RUN): Pod =>
  ({
    metadata: { name: component, labels: { [labels.component]: component, [labels.run]: run } },
    status: { containerStatuses: [{ name: component, state: { terminated: { message: JSON.stringify({ bytes }) } } }] },
  }) as unknown as Pod;

function planned(
  objects: readonly KubeObject[],
  more: {
    status?: OpenStackDeployment["status"];
    spec?: OpenStackDeploymentSpec;
    isSettled?: boolean;
    pods?: Pod[];
  } = {},
) {
  const observed = {
    deployment: deployment({ ...(more.status ? { status: more.status } : {}), spec: more.spec ?? spec }),
    objects: new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object])),
    pods: more.pods ?? [],
  } as unknown as Observed;
  return planBackup({ observed, desired, isSettled: more.isSettled ?? true, now: NOW });
}
const stepsOf = (plan: ReturnType<typeof planned>) =>
  plan.steps.map(({ type, name }) => `${type} ${name.replace("Job/cloud-", "")}`);
const running = { backups: [{ run: RUN, state: "Running" as const, startedAt: "2026-01-05T02:00:00Z" }] };

describe("the times of backups", () => {
  test.each([
    ["each day at two", {}, "20260105t020000z"],
    ["each day at another hour that is still to come", { hour: 23 }, "20260104t230000z"],
    ["every six hours from two", { everyHours: 6 }, "20260105t080000z"],
    ["every hour", { everyHours: 1 }, "20260105t090000z"],
  ])("%s: the last one is the same for every process", (_, schedule, run) => {
    expect(runOf(dueAt(schedule, NOW))).toBe(run);
  });

  test("are never later than now, nor as long ago as the time between two", () => {
    const HOUR = 3_600_000;
    const times = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2027, 0, 1) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 168 }), fc.nat(23), times, (everyHours, hour, now) => {
        const due = dueAt({ everyHours, hour }, now);
        expect(now - due).toBeGreaterThanOrEqual(0);
        expect(now - due).toBeLessThan(everyHours * HOUR);
        expect((due - hour * HOUR) % (everyHours * HOUR)).toBe(0);
      }),
    );
  });
});

describe("the Jobs of a backup", () => {
  test("dump each service's databases, OVN's two, and the keys, and finish with the list", () => {
    expect(names).toEqual([
      ...lastingComponents(catalogue)
        .filter(({ name }) => name.endsWith("-db-init"))
        .map(({ service }) => `${service}-db-backup`),
      "ovn-nb-backup",
      "ovn-sb-backup",
      "keys-backup",
      "backup-finish",
    ]);
  });

  test("reach nothing but what they write of, and only the Job of keys mounts the deployment's Secrets", () => {
    for (const template of desired.templates) {
      const component = template.metadata.labels?.[labels.component] ?? "";
      const text = JSON.stringify(template.spec);
      expect(text.includes("/run/keys/token-keys"), component).toBe(component === "keys-backup");
      expect(text.includes('"claimName":"backups"'), component).toBe(true);
    }
    const policies = JSON.stringify(desired.foundation.filter(({ component }) => component === "ovn-nb-backup"));
    expect(policies).toContain('"port":6641');
    expect(policies).not.toContain("3306");
  });
});

describe("a backup", () => {
  test("begins when it is due and everything is ready", () => {
    const plan = planned([]);
    expect(stepsOf(plan)).toEqual([`apply ${names[0]}-${RUN}`]);
    expect(plan.status.backups?.[0]).toMatchObject({ run: RUN, state: "Running" });
    expect(plan.next).toBe(Date.UTC(2026, 0, 6, 2));
  });

  test("waits while something else is under way", () => {
    const plan = planned([], { isSettled: false });
    expect(stepsOf(plan)).toEqual([]);
    expect(plan.status.backup?.step).toBe("waits until every component is ready");
  });

  test("that was begun continues when a component is lost, and when its begin was not published", () => {
    expect(stepsOf(planned([job(names[0] ?? "", RUN, "Complete")], { isSettled: false }))).toEqual([
      `apply ${names[1]}-${RUN}`,
    ]);
  });

  test("runs one Job at a time", () => {
    expect(stepsOf(planned([job(names[0] ?? "")], { status: running }))).toEqual([]);
  });

  test.each(names.slice(1).map((name, index) => [name, index + 1] as const))(
    "continues with %s after all before it, whatever process runs",
    (name, index) => {
      const done = names.slice(0, index).map((each) => job(each, RUN, "Complete"));
      expect(stepsOf(planned(done, { status: running }))).toEqual([`apply ${name}-${RUN}`]);
    },
  );

  test("is complete with its size once its last Job ended, and its Jobs go only after that is published", () => {
    const done = names.map((each) => job(each, RUN, "Complete"));
    const pods = [pod(names[0] ?? "", 100), pod("backup-finish", 5_000)];
    const plan = planned(done, { status: running, pods });
    expect(stepsOf(plan)).toEqual([]);
    expect(plan.status.backups?.[0]).toMatchObject({ run: RUN, state: "Complete", bytes: 5_000 });
    expect(plan.events).toMatchObject([{ type: "Normal", reason: "BackedUp" }]);
    const after = planned(done, { status: plan.status });
    expect(stepsOf(after)).toEqual(names.map((name) => `delete ${name}-${RUN}`));
    expect(after.events).toEqual([]);
  });

  test("whose Job failed is failed with the Job's message, keeps its Jobs, and the next one is made at its time", () => {
    const jobs = [job(names[0] ?? "", RUN, "Complete"), job(names[1] ?? "", RUN, "Failed")];
    const plan = planned(jobs, { status: running });
    expect(plan.status.backups?.[0]).toMatchObject({ state: "Failed", message: `${names[1]}: the pod failed` });
    expect(stepsOf(planned(jobs, { status: plan.status }))).toEqual([]);
    const old = [job(names[0] ?? "", "20260104t020000z", "Failed")];
    const failed = {
      backups: [{ run: "20260104t020000z", state: "Failed" as const, startedAt: "2026-01-04T02:00:00Z" }],
    };
    expect(stepsOf(planned(old, { status: failed }))).toEqual([
      `delete ${names[0]}-20260104t020000z`,
      `apply ${names[0]}-${RUN}`,
    ]);
  });

  test("that is no longer wanted leaves no Job, and its records remain", () => {
    const { backup: _none, ...without } = spec;
    const plan = planned([job(names[0] ?? "")], { status: running, spec: without });
    expect(stepsOf(plan)).toEqual([`delete ${names[0]}-${RUN}`]);
    expect(plan.status.backups).toHaveLength(1);
  });
});

describe("the status of backups", () => {
  const NEXT = "2026-01-06T02:00:00Z";
  const before = {
    run: "20260104t020000z",
    state: "Complete" as const,
    startedAt: "2026-01-04T02:00:00Z",
    completedAt: "2026-01-04T02:10:00Z",
  };
  const failed = { ...before, run: "20260103t020000z", state: "Failed" as const, startedAt: "2026-01-03T02:00:00Z" };

  test("has the step and the record of the one that is made, and the last complete one", () => {
    const plan = planned([job(names[0] ?? "", RUN, "Complete")], { status: { backups: [before] } });
    const record = { run: RUN, state: "Running", startedAt: "2026-01-05T09:30:00Z" };
    expect(plan.status).toEqual({
      backup: { run: RUN, step: `${names[1]} runs`, next: NEXT, last: before.startedAt },
      backups: [record, before],
    });
    expect(plan.events).toEqual([]);
    expect(planned([job(names[0] ?? "")], { status: running }).status).toEqual({
      backup: { run: RUN, step: `${names[0]} runs`, next: NEXT },
      backups: running.backups,
    });
  });

  test("has, at its end, when that was, and then only the next and the last one", () => {
    const done = names.map((each) => job(each, RUN, "Complete"));
    const end = planned(done, { status: { backups: [...running.backups, failed] } });
    expect(end.status).toEqual({
      backup: { next: NEXT, last: "2026-01-05T02:00:00Z" },
      backups: [
        { run: RUN, state: "Complete", startedAt: "2026-01-05T02:00:00Z", completedAt: "2026-01-05T09:30:00Z" },
        failed,
      ],
    });
    expect(end.events).toEqual([{ type: "Normal", reason: "BackedUp", message: `Backup ${RUN} is complete` }]);
    const after = planned([], { status: end.status });
    expect(after).toMatchObject({ steps: [], status: end.status, events: [], next: Date.UTC(2026, 0, 6, 2) });
  });

  test("has why one failed, as its event does", () => {
    const plan = planned([job(names[0] ?? "", RUN, "Failed")], { status: running });
    const message = `${names[0]}: the pod failed`;
    expect(plan.status.backups).toMatchObject([{ state: "Failed", message, completedAt: "2026-01-05T09:30:00Z" }]);
    expect(plan.status.backup).toEqual({ next: NEXT });
    expect(plan.events).toEqual([{ type: "Warning", reason: "BackupFailed", message: `${RUN}: ${message}` }]);
    expect(plan.steps).toEqual([]);
  });

  test("has the records while the next one waits, and nothing of backups that were never made", () => {
    const step = "waits until every component is ready";
    const of = (status: OpenStackDeployment["status"]) =>
      planned([], { isSettled: false, ...(status ? { status } : {}) });
    expect(of({ backups: [failed, before] })).toMatchObject({
      steps: [],
      status: { backup: { next: NEXT, last: before.startedAt, step }, backups: [failed, before] },
      next: Date.UTC(2026, 0, 6, 2),
    });
    expect(of(undefined).status).toEqual({ backup: { next: NEXT, step } });
    expect(of({ backups: [] }).status).not.toHaveProperty("backups");
    const { backup: _none, ...without } = spec;
    expect(planned([], { spec: without })).toEqual({ steps: [], status: {}, events: [] });
  });

  test("continues the newest of several that no status names", () => {
    const [old, newer] = ["20260103t020000z", "20260104t020000z"];
    const plan = planned([job(names[0] ?? "", newer, "Complete"), job(names[0] ?? "", old)], {
      status: { backups: [{ ...failed, run: "20260102t020000z" }] },
    });
    expect(stepsOf(plan)).toEqual([`delete ${names[0]}-${old}`, `apply ${names[1]}-${newer}`]);
  });

  test.each<[string, Pod[], number | undefined]>([
    ["the sum of its parts", [pod("a", 100), pod("b", 20)], 120],
    ["what the last Job says", [pod("a", 100), pod("backup-finish", 7), pod("b", 20)], 7],
    ["none of another run", [pod("a", 100, "20260104t020000z")], undefined],
    ["none that is no size", [pod("a", -1), pod("b", "2"), pod("c", 1.5), pod("d", undefined)], undefined],
    ["that of an empty backup", [pod("backup-finish", 0)], 0],
    [
      "none of a pod that has not ended",
      [{ metadata: { name: "a", labels: { [labels.run]: RUN } } } as unknown as Pod],
      undefined,
    ],
  ])("has as the size %s", (_, pods, bytes) => {
    expect(planned([job(names[0] ?? "")], { status: running, pods }).status.backups?.[0]?.bytes).toBe(bytes);
  });
});

describe("the Job of a run", () => {
  test("has its name, its run for its program and for its labels, and else what its template has", () => {
    const [template] = desired.templates;
    if (!template) throw new Error("there is no template");
    const made = jobOfRun(template, RUN);
    expect(made.metadata.name).toBe(`cloud-${names[0]}-${RUN}`);
    expect(made.metadata.labels).toEqual({ ...template.metadata.labels, [labels.run]: RUN });
    expect(made.spec.template.metadata?.labels).toEqual({
      ...template.spec.template.metadata?.labels,
      [labels.run]: RUN,
    });
    const [own, before] = [made, template].map((each) => each.spec.template.spec?.containers[0]);
    expect(own?.env).toEqual([...(before?.env ?? []), { name: "BACKUP_RUN", value: RUN }]);
    expect(own?.image).toBe(before?.image);
    expect(made.metadata.annotations).not.toHaveProperty(annotations.inputs);
    expect(made.spec).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds: 21_600 });
  });
});
