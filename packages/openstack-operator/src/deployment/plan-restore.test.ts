import type { OpenStackDeployment, OpenStackDeploymentStatus } from "@causeway/api";
import { secretData, type KubeObject, type Pod, type Secret } from "@causeway/kubernetes";
import { beforeAll, describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { annotations, labels } from "../model/names.ts";
import { desiredOf, type Desired } from "../render/desired.ts";
import { withRestoreJobs } from "../restore/jobs.ts";
import { spec } from "../testing/rendered.ts";
import type { Judged } from "./components.ts";
import { idOf, type Observed } from "./gather.ts";
import { planKeys, restoreConditions, restoreStatusOf } from "./plan-restore.ts";

const RUN = "20260101t020000z";
const ID = `cloud/${RUN}`;
type Restore = NonNullable<OpenStackDeployment["spec"]["restore"]>;
const restore: Restore = { from: RUN, target: { claim: "backups" }, keys: { name: "passphrase" } };

const deploymentOf = (wanted?: Restore, status?: OpenStackDeploymentStatus): OpenStackDeployment => ({
  apiVersion: "openstack.causeway.dev/v1alpha1",
  kind: "OpenStackDeployment",
  metadata: { name: "cloud", namespace: "openstack", uid: "u" },
  spec: { ...spec, services: [], ...(wanted ? { restore: wanted } : {}) },
  ...(status ? { status } : {}),
});
const secret = (texts: Record<string, string>, more: Record<string, string> = {}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "secret", annotations: more },
  data: secretData(texts),
});
const adopted = secret({}, { [annotations.restored]: ID });

let desired: Desired;
beforeAll(() => {
  const credentials = { generation: 0, accounts: [0], values: {} };
  const deployment = deploymentOf(restore);
  desired = desiredOf({ deployment, credentials, computeNodes: [], isRestoring: true, messagesOf: "2025.1" });
});

interface Given extends Partial<Pick<Observed, "deployment" | "credentials" | "restoredKeys" | "pods">> {
  readonly objects?: readonly KubeObject[];
}

function planned({ objects = [], ...given }: Given) {
  const observed = {
    deployment: deploymentOf(restore),
    pods: [],
    nodes: [],
    ...given,
    objects: new Map(objects.map((object) => [idOf(object), object])),
  } as unknown as Observed;
  const plan = planKeys(observed, () => desired);
  return plan && { ...plan, steps: plan.steps.map(({ type, name }) => `${type} ${name}`) };
}

describe("passwords and keys of a backup", () => {
  test.each<[string, Given]>([
    ["no restore is wanted", { deployment: deploymentOf() }],
    ["they were adopted", { credentials: adopted }],
    [
      "the restore has come to its end",
      {
        deployment: deploymentOf(restore, {
          restore: { from: ID, step: "Done", done: [], startedAt: "a", completedAt: "b" },
        }),
      },
    ],
  ])("are no concern where %s", (_, given) => expect(planned(given)).toBeUndefined());

  test.each([
    ["has others of its own", secret({})],
    ["has those of another backup", secret({}, { [annotations.restored]: "cloud/20250101t020000z" })],
  ])("replace nothing where the deployment %s, unless overwrite is true", (_, credentials) => {
    const message = "Secret cloud-credentials exists: the deployment holds data, which a restore would replace";
    expect(planned({ credentials })).toEqual({ steps: [], refusal: message, step: "holds data" });
    const kept = deploymentOf({ ...restore, overwrite: false });
    expect(planned({ credentials, deployment: kept })?.refusal).toBe(message);
    const replaced = planned({ credentials, deployment: deploymentOf({ ...restore, overwrite: true }) });
    expect(replaced).toMatchObject({ step: "decrypts passwords and keys" });
    expect(replaced?.refusal).toBeUndefined();
  });

  test("are adopted once the Secret that the Job writes has those of this backup", () => {
    const found = (texts: Record<string, string>, deployment = deploymentOf(restore)) =>
      planned({ restoredKeys: secret(texts), deployment });
    const adoption = { steps: ["adopt-keys cloud-credentials"], step: "takes over passwords and keys" };
    expect(found({ keys: "{}", backup: ID })).toEqual(adoption);
    const elsewhere = deploymentOf({ ...restore, deployment: "other" });
    expect(found({ keys: "{}", backup: `other/${RUN}` }, elsewhere)).toEqual(adoption);
    for (const texts of [{ keys: "{}", backup: "cloud/20250101t020000z" }, { keys: "{}" }, { backup: ID }])
      expect(found(texts as Record<string, string>)?.step).toBe("decrypts passwords and keys");
  });

  test("are decrypted by a Job that comes after what it needs, and after nothing else of the deployment", () => {
    const first = planned({});
    expect(first?.steps).toEqual([
      "apply NetworkPolicy/cloud-default-deny",
      expect.stringMatching(/^apply ConfigMap\/cloud-restore-keys-programs-/),
      "apply NetworkPolicy/cloud-restore-keys",
      "apply ServiceAccount/cloud-restore-keys",
      "apply Secret/cloud-restored-keys",
      "apply Role/cloud-restore-keys",
      "apply RoleBinding/cloud-restore-keys",
    ]);
    const names = first?.steps.map((step) => step.replace("apply ", "")) ?? [];
    const written = desired.foundation.map(({ object }) => object).filter((object) => names.includes(idOf(object)));
    const job = desired.workloads.get("restore-keys")?.[0]?.object;
    if (!job) throw new Error("there is no Job");
    expect(planned({ objects: written })?.steps).toEqual([`apply ${idOf(job)}`]);
    expect(planned({ objects: [...written, job] })?.steps).toEqual([]);
  });

  test("have programs whose name is their digest, which are not compared, and policies that are", () => {
    const all = desired.foundation.map(({ object }) => object);
    const changed = all.map((object) => ({ ...object, data: {}, metadata: { ...object.metadata, annotations: {} } }));
    expect(planned({ objects: changed })?.steps).toEqual([
      "apply NetworkPolicy/cloud-default-deny",
      "apply NetworkPolicy/cloud-restore-keys",
      "apply ServiceAccount/cloud-restore-keys",
      "apply Secret/cloud-restored-keys",
      "apply Role/cloud-restore-keys",
      "apply RoleBinding/cloud-restore-keys",
    ]);
  });
});

describe("the Job that decrypts passwords and keys", () => {
  const ended = (exitCode: number, message?: string) => ({ terminated: { exitCode, ...(message ? { message } : {}) } });
  const pod = (component: string | undefined, ...containerStatuses: object[]): Pod =>
    ({
      spec: { containers: [] },
      metadata: { name: "pod", ...(component === undefined ? {} : { labels: { [labels.component]: component } }) },
      ...(containerStatuses.length > 0 ? { status: { containerStatuses } } : {}),
    }) as unknown as Pod;
  const WRONG = "the passphrase does not fit";
  const is = `restore-keys: ${WRONG}`;
  const runs = "decrypts passwords and keys";

  test.each<[string, readonly Pod[], string]>([
    ["the message that its pod ended with", [pod("restore-keys", { state: ended(1, WRONG) })], is],
    [
      "the message of its pod's last end, while it runs again",
      [pod("restore-keys", { state: {}, lastState: ended(1, WRONG) })],
      is,
    ],
    ["the message of its second pod", [pod("restore-keys"), pod("restore-keys", { state: ended(1, WRONG) })], is],
    [
      "the message of a container after one without",
      [pod("restore-keys", { state: ended(1) }, { state: ended(1, WRONG) })],
      is,
    ],
    [
      "no message of a pod that ended well",
      [pod("restore-keys", { state: ended(0, "done"), lastState: ended(1, WRONG) })],
      runs,
    ],
    ["no message of another component", [pod("mariadb", { state: ended(1, WRONG) }), pod(undefined)], runs],
  ])("is shown with %s", (_, pods, step) => expect(planned({ pods })?.step).toBe(step));

  test("is shown with its own condition where no pod is left", () => {
    const job = desired.workloads.get("restore-keys")?.[0]?.object;
    const failed = (type: string) =>
      ({
        ...job,
        status: { conditions: [{ type, status: "True", message: "backoffLimit" }] },
      }) as unknown as KubeObject;
    expect(planned({ objects: [failed("Failed")] })?.step).toBe("restore-keys: backoffLimit");
    expect(planned({ objects: [failed("Suspended")] })?.step).toBe(runs);
  });
});

describe("the status of a restore", () => {
  const now = Date.UTC(2026, 0, 2);
  const { components } = withRestoreJobs(resolveCatalogue({ ...spec, services: [] }));
  const judgedWithout = (...open: readonly string[]) =>
    new Map(
      components.map((component): [string, Judged] => {
        const state = open.includes(component.name) ? "Progressing" : "Ready";
        return [component.name, { component, readiness: { state, step: "" }, writes: [], unmet: [] }];
      }),
    );
  const of = (open: readonly string[], status?: OpenStackDeploymentStatus) =>
    restoreStatusOf(deploymentOf(restore, status), { id: ID, judged: judgedWithout(...open), now });
  const begun = { from: ID, step: "KeysRestored", done: [], startedAt: "2026-01-01T00:00:00Z" };

  test.each<[string, readonly string[], string, readonly string[]]>([
    [
      "glance-db-restore",
      ["glance-db-restore"],
      "DatabasesRestored",
      ["KeysRestored", "NetworkRestored", "NetworkRepaired"],
    ],
    ["ovn-nb-restore", ["ovn-nb-restore"], "NetworkRestored", ["KeysRestored", "DatabasesRestored", "NetworkRepaired"]],
    [
      "neutron-ovn-sync",
      ["neutron-ovn-sync"],
      "NetworkRepaired",
      ["KeysRestored", "DatabasesRestored", "NetworkRestored"],
    ],
    ["nova-api", ["nova-api"], "Starting", ["KeysRestored", "DatabasesRestored", "NetworkRestored", "NetworkRepaired"]],
    ["everything", components.map(({ name }) => name), "DatabasesRestored", ["KeysRestored"]],
  ])("waits for %s in its step, and has the steps that are done", (_, open, step, done) => {
    expect(of(open)).toEqual({ from: ID, step, done, startedAt: "2026-01-02T00:00:00Z" });
  });

  test("has its end once every component is done, and the begin of this restore", () => {
    const end = { step: "Done", completedAt: "2026-01-02T00:00:00Z" };
    expect(of([], { restore: begun })).toMatchObject({ ...end, startedAt: begun.startedAt });
    const other = { ...begun, from: "cloud/20250101t020000z" };
    expect(of([], { restore: other })).toMatchObject({ ...end, from: ID, startedAt: "2026-01-02T00:00:00Z" });
  });

  test("has nothing done while there are no passwords, and a step of at most 512 characters", () => {
    const at = { id: ID, judged: undefined, now };
    const before = restoreStatusOf(deploymentOf(restore), at, "x".repeat(600));
    expect(before).toEqual({ from: ID, step: "x".repeat(512), done: [], startedAt: "2026-01-02T00:00:00Z" });
    expect(restoreStatusOf(deploymentOf(restore), at)?.step).toBe("KeysRestored");
  });

  test("is a condition for each step", () => {
    expect(restoreConditions(undefined)).toEqual([]);
    const message = `backup ${ID}`;
    const no = { status: "False", reason: "NotYet", message };
    const yes = { status: "True", reason: "Done", message };
    expect(restoreConditions({ ...begun, done: ["KeysRestored", "NetworkRestored"] })).toEqual([
      { ...yes, type: "KeysRestored" },
      { ...no, type: "DatabasesRestored" },
      { ...yes, type: "NetworkRestored" },
      { ...no, type: "NetworkRepaired" },
    ]);
    const refused = restoreConditions(begun, "the deployment holds data");
    expect(refused).toHaveLength(4);
    for (const { status, reason, message: why } of refused)
      expect([status, reason, why]).toEqual(["False", "HoldsData", "the deployment holds data"]);
  });
});
