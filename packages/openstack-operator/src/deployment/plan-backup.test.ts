import type { OpenStackDeployment, OpenStackDeploymentSpec } from "@causeway/api";
import type { Job, KubeObject, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { labels } from "../model/names.ts";
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
const pod = (component: string, bytes: number): Pod =>
  ({
    metadata: { name: component, labels: { [labels.component]: component, [labels.run]: RUN } },
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
